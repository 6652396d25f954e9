-- READ COMMITTED is required (§5.2, contract §4), and SERIALIZABLE is no better.
begin isolation level serializable;
\set level 'serializable'
\ir lib/isolation.sql
