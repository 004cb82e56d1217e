--! about: The hours that a connection sees: from the first instant on, before the second.
set variable hours_from = cast($hours_from as timestamp);
set variable hours_to = cast($hours_to as timestamp);
