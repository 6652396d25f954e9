-- READ COMMITTED is required (§5.2, contract §4): under REPEATABLE READ a row that has changed raises 40001.
begin isolation level repeatable read;
\set level 'repeatable read'
\ir lib/isolation.sql
