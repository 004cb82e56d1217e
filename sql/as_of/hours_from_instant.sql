--! about: The first hour that a connection sees.
set variable hours_from = cast($hours_from as timestamp);
