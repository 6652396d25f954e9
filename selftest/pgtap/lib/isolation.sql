-- The body of the two isolation suites: each function refuses, and changes nothing but its audit.
\ir session.sql
\ir functions.sql
select plan(24);

select is(
    current_setting('transaction_isolation'),
    :'level',
    's5.2: this suite runs under ' || :'level');
select pg_temp.mark();
create temp table before_calls on commit drop as select pg_temp.state() as state;
select is(
    pg_temp.verdict(pg_temp.surface_call(s.fn, s.arguments)),
    'isolation_level',
    format('s5.2: %s under %s is refused', s.fn, :'level'))
  from surface s
 where s.volatility = 'v'
 order by s.place;
select is(
    pg_temp.rows($$select * from public.fn_job_claim(array['x'], 'n', 'w')$$) ->> 'raised',
    'D4500',
    's5.2: a claim raises that refusal, so that no worker takes it for an empty queue');
select is(
    pg_temp.answer('select public.fn_job_enqueue(null, null, null, null, null)') ->> 'reason',
    'isolation_level',
    's5.2: the isolation level comes before the arguments');
select isnt(
    pg_temp.verdict(pg_temp.surface_call(s.fn, s.arguments)),
    'isolation_level',
    format('s5.2: %s only reads, and works under %s', s.fn, :'level'))
  from surface s
 where s.volatility = 's'
 order by s.place;
select is(pg_temp.state(), b.state, 's5.2: no refused call changed anything') from before_calls b;

select * from finish();
rollback;
