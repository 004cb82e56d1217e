--! about: The in-memory catalog of views, under the name that all SQL uses.
attach ':memory:' as wh;
use wh;
