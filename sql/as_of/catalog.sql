--! about: The catalog of views in memory, under the name that all SQL asks.
attach ':memory:' as wh;
use wh;

create schema ledger;
