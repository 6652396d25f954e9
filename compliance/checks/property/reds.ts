/** The faults that show each property red, and what each must find. Tests only. */
import type { Sandbox } from '../../types.ts';
import { breakFunction } from '../race/testing.ts';

type Plant = (sandbox: Sandbox) => Promise<void>;
export type Red = {
  fault: string;
  file: string;
  plant: Plant;
  /** The assertion that must break → what must be seen. */
  finds: Readonly<Record<string, RegExp>>;
  /** Needs all that the file tries. */
  all?: true;
};

const edit =
  (name: string, ...edits: (readonly [RegExp, string])[]): Plant =>
  (sandbox) =>
    breakFunction(sandbox, name, edits);
const sql =
  (text: string): Plant =>
  (sandbox) =>
    sandbox.plant(text);
const both =
  (...plants: Plant[]): Plant =>
  async (sandbox) => {
    for (const plant of plants) await plant(sandbox);
  };

export const reds: readonly Red[] = [
  {
    fault: 'names of any length are let through to the table',
    file: 'any-value',
    plant: edit('dot_queue.name_problem', [/when char_length.*\n/, '']),
    finds: { 'no call raises a raw error': /^fn_job_enqueue: SQLSTATE 23514/ },
  },
  {
    fault: 'a read answers with the lease token',
    file: 'any-value',
    plant: edit('public.fn_job_get', [/- 'lease_token'/, '']),
    finds: {
      'every answer is a coded refusal or the documented effect':
        /^fn_job_get: the key "lease_token" is not documented/,
    },
  },
  {
    fault: 'a reason that the contract does not have',
    file: 'any-value',
    plant: edit('dot_queue.lease_call', [/'lease_token_mismatch'/, "'wrong_token'"]),
    finds: {
      'every answer is a coded refusal or the documented effect':
        /"wrong_token" is not in the contract's list/,
    },
  },
  {
    fault: 'a new function that nobody has documented',
    file: 'any-value',
    plant: sql(`create function public.fn_job_new(p_text text) returns jsonb language sql as
      $$ select '{"refused": false}'::jsonb $$`),
    finds: {
      'every answer is a coded refusal or the documented effect':
        /^fn_job_new: its answer is not documented/,
    },
  },
  {
    fault: 'a refusal that takes a job along',
    file: 'any-value',
    plant: edit('dot_queue.refuse', [
      /return p_refusal;/,
      'update public.job_queue set priority = priority + 1; return p_refusal;',
    ]),
    finds: {
      'a refusal changes nothing but its own audit row': /it changed public\.job_queue/,
    },
  },
  {
    fault: 'a refusal that is not recorded',
    file: 'any-value',
    plant: edit('dot_queue.refuse', [/insert into [^;]*;/, '']),
    finds: { 'a refusal changes nothing but its own audit row': /it recorded \[\]/ },
  },
  {
    fault: 'an audit that swallows its own failure',
    file: 'any-value',
    plant: edit('dot_queue.audit', [
      /\bend\s*\$function\$/,
      'exception when others then null; end $function$',
    ]),
    finds: {
      'no change outlives the failing insert of its audit row': /changed public\.\w+/,
    },
  },
  {
    fault: 'vectors are no longer told from signals',
    file: 'any-json',
    plant: both(
      edit('dot_queue.payload_is_signal', [/@\.size\(\) > 64/, '@.size() > 6400']),
      sql('alter table public.job_queue drop constraint job_queue_payload_vector_check'),
    ),
    finds: {
      'a signal is stored, and anything else is refused as payload_not_signal':
        /^fn_job_enqueue: created/,
    },
  },
  {
    fault: 'a payload is measured in characters',
    file: 'any-json',
    plant: edit('dot_queue.payload_is_signal', [/octet_length/, 'char_length']),
    finds: { 'no JSON raises a raw error': /^fn_job_enqueue: SQLSTATE 23514/ },
  },
  {
    fault: 'an unknown key of an item is passed over',
    file: 'any-json',
    plant: edit('dot_queue.enqueue_item', [
      /'priority', 'process_after', 'actor'\)/,
      "'priority', 'process_after', 'actor', 'p_payload')",
    ]),
    finds: {
      'a good item is stored and a bad one refused, each by itself':
        /^fn_job_enqueue_batch: \{"job_id"/,
    },
  },
  {
    fault: 'a priority is cast before it is looked at',
    file: 'any-json',
    plant: edit('dot_queue.enqueue_item', [/if v_number <> trunc[\s\S]*?end if;/, '']),
    finds: { 'no JSON raises a raw error': /^fn_job_enqueue_batch: .*"22003"/ },
  },
  {
    fault: 'the exponent is not clamped',
    file: 'backoff',
    plant: edit('dot_queue.backoff_seconds', [
      /least\(greatest\(p_attempts - 1, 0\), 60\)/,
      'p_attempts - 1',
    ]),
    finds: { 'every failure and every reap is recorded': /out of range/ },
  },
  {
    fault: 'a cap of 0 is no delay',
    file: 'backoff',
    plant: edit('dot_queue.backoff_seconds', [
      /when p_cap_seconds = 0 then p_base_seconds::double precision/,
      'when p_cap_seconds = 0 then 0',
    ]),
    finds: { 'the delay is within [0.8, 1.2] × LEAST(cap, raw)': /^0 s after attempt/ },
  },
  {
    fault: 'the cap is forgotten',
    file: 'backoff',
    plant: edit('dot_queue.backoff_seconds', [/p_cap_seconds::double precision,/, '31536000,']),
    finds: { 'the delay is within [0.8, 1.2] × LEAST(cap, raw)': /s after attempt/ },
  },
  {
    fault: 'a negative delay',
    file: 'backoff',
    plant: edit('dot_queue.next_process_after', [/0\.8 \+ random\(\) \* 0\.4/, '-1']),
    finds: { 'no retry is due before now': /^-\d+ s after attempt/ },
  },
  {
    fault: 'one jitter for all rows of a statement',
    file: 'backoff',
    plant: edit('dot_queue.next_process_after', [/0\.8 \+ random\(\) \* 0\.4/, '1.1']),
    finds: { 'jitter differs row by row within one statement': /^1 different factors/ },
  },
  {
    fault: 'the failure code is not cut',
    file: 'error-text',
    plant: edit('dot_queue.error_code', [/p_error_code, 100/, 'p_error_code, 1000000']),
    finds: { 'what is kept of the texts is cut, clean and true': /^fn_job_fail_transient: \d{5,}/ },
  },
  {
    fault: 'a failure without a code is a failure code of NULL',
    file: 'error-text',
    plant: edit('dot_queue.error_code', [/, 'unspecified'\)/, ', null)']),
    finds: {
      'every failure makes its transition, whatever its texts hold': /"failure_code"/,
    },
  },
  {
    fault: 'control characters are kept',
    file: 'error-text',
    plant: edit('dot_queue.clean_text', [
      /regexp_replace\([\s\S]*'g'\)/,
      'left(p_value, p_max_chars)',
    ]),
    finds: { 'what is kept of the texts is cut, clean and true': /\\u0001|\\u000/ },
  },
  {
    fault: 'a plain literal with a backslash, in a session that reads it as an escape',
    file: 'settings',
    plant: edit('dot_queue.name_problem', [/'\[\^\[:space:\]\]'/, "'\\S'"]),
    finds: {
      'every call answers as in a session where nothing was done': /"problem":"empty"/,
    },
  },
  {
    fault: 'a claim whose rows come in the order of a join',
    file: 'settings',
    plant: edit('dot_queue.claim_rows', [/order by g\.place/, '']),
    finds: {
      'every call answers as in a session where nothing was done': /after select.*enable_/,
    },
    all: true,
  },
  {
    fault: 'a function that looks into pg_temp first',
    file: 'shadow',
    plant: sql(
      `alter function public.fn_job_fail_transient(uuid, uuid, text, text, text) set search_path = ''`,
    ),
    finds: { 'nothing of the caller runs as anybody else': /ran as dot_queue_owner/ },
  },
  {
    fault: 'a function that takes the search path of its caller',
    file: 'shadow',
    plant: sql(
      'alter function dot_queue.grant_leases(text, uuid[], text, text, integer) reset search_path; alter function public.fn_job_claim_batch(text[], text, text, integer, integer) reset search_path; alter function dot_queue.claim_rows(text, text[], text, text, integer, integer) reset search_path; alter function dot_queue.claim(text, text[], text, text, integer, integer) reset search_path',
    ),
    finds: {
      'nothing of the caller runs as anybody else': /ran as dot_queue_owner/,
      'every call answers as in a session where nothing was done': /after a schema first/,
    },
  },
  {
    fault: 'rows that cannot be promoted use up the limit',
    file: 'poison',
    plant: edit('public.fn_job_promote_due', [/exit when v_promoted >= v_limit[^;]*;/, 'exit;']),
    finds: { 'every other row is worked, up to the limit, in both of two calls': /^promote/ },
  },
  {
    fault: 'rows that cannot be reaped use up the limit',
    file: 'poison',
    plant: edit('public.fn_job_lease_reaper', [
      /v_bad := v_bad \|\| v_id;/,
      'v_bad := v_bad || v_id; v_done := v_done + 1;',
    ]),
    finds: { 'every other row is worked, up to the limit, in both of two calls': /^reap/ },
  },
  {
    fault: 'a row that cannot be reaped is not named',
    file: 'poison',
    plant: edit('public.fn_job_lease_reaper', [/v_skipped := v_skipped \|\|[^;]*;/, '']),
    finds: {
      'a poisoned row is left as it was, and named where the answer names rows': /^reap.*\[\]/,
    },
  },
  {
    fault: 'a batch that fails with its item',
    file: 'poison',
    plant: edit('public.fn_job_enqueue_batch', [
      /exception when others then[\s\S]*?true\);/,
      "exception when sqlstate 'XXXXX' then null;",
    ]),
    finds: {
      'every other row is worked, up to the limit, in both of two calls': /^enqueue.*a raw error/,
    },
  },
  {
    fault: 'a claim that stops at the first row it cannot write',
    file: 'poison',
    plant: edit('dot_queue.claim', [/v_bad := v_bad \|\| v_id;/, 'return v_granted;']),
    finds: { 'every other row is worked, up to the limit, in both of two calls': /^claim/ },
  },
  {
    fault: 'a failing event undoes the transition',
    file: 'lost-event',
    plant: edit('dot_queue.emit', [
      /exception when others then\s+v_lost :=/,
      "exception when sqlstate 'XXXXX' then v_lost :=",
    ]),
    finds: {
      'every transition happens, whether or not its event can be written':
        /^fn_job_lease_reaper: leased/,
    },
  },
  {
    fault: 'a lost event is nowhere said',
    file: 'lost-event',
    plant: edit('dot_queue.emit', [/v_lost := v_lost \|\| [^;]*;/, 'null;']),
    finds: {
      'a lost event stands in the audit row and in the gap view, and no other does': /lost: false/,
    },
  },
  {
    fault: 'an event that is no warning',
    file: 'lost-event',
    plant: edit('dot_queue.emit', [
      /p_event_type, 'warning', p\.payload/,
      "p_event_type, 'info', p.payload",
    ]),
    finds: { 'the events that can be written are there': /^fn_job_\w+: $/ },
  },
  {
    fault: 'a job may fail once more than the maximum',
    file: 'maximum',
    plant: edit('public.fn_job_fail_transient', [
      /v_job\.attempts >= dot_queue\.max_attempts/,
      'v_job.attempts > dot_queue.max_attempts',
    ]),
    finds: {
      'a failure kills a job exactly when its attempts have reached the maximum in force':
        /^retry_waiting after \d+, maximum \d+, ended by failure/,
    },
  },
  {
    fault: 'a lowered maximum leaves a waiting job where it is',
    file: 'maximum',
    plant: edit('dot_queue.claim', [
      /and q\.claimable/,
      'and q.claimable and q.attempts < dot_queue.max_attempts(q.job_kind)',
    ]),
    finds: {
      'a waiting job at or above a lowered maximum runs once more, and no more': /^queued after/,
    },
  },
  {
    fault: 'a missing key is passed over',
    file: 'config',
    plant: sql(`create or replace view dot_queue.config_problem as
      select v.key, 'invalid'::text as kind, v.problem from dot_queue.config_value v where v.problem is not null`),
    finds: {
      'a bad setting is refused where it is written, or the gap view names it': /silence$/,
    },
  },
  {
    fault: 'a value that is taken and not used',
    file: 'config',
    plant: sql(`create or replace view public.v_queue_config as
      select k.key, v.value, k.default_value as in_force, k.default_value, v.problem, k.description
        from dot_queue.config_catalogue k
        left join dot_queue.config_value v on v.key = k.key`),
    finds: { 'a value that is taken is in force': /is in force$/ },
  },
  {
    fault: 'a bad value stops nobody',
    file: 'config',
    plant: edit('dot_queue.config_refusal', [/if found then/, 'if false then']),
    finds: {
      'with a bad value there, what starts a job answers config_invalid with its key': /created/,
    },
  },
  {
    fault: 'a bad value is believed',
    file: 'config',
    plant: edit('dot_queue.config', [/and \(c\.value = k\.default_value[\s\S]*?is null\)/, '']),
    finds: {
      'with a bad or missing value there, whatever ends a lease works, on the default':
        /SQLSTATE 22P02/,
    },
  },
];
