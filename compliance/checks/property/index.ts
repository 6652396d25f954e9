/**
 * The check kind `property`: generated inputs, hostile ones first, then random ones by the run's
 * seed (clauses.md). A file names its property; what breaks it is shrunk and shown as SQL that can
 * be pasted after the file's set-up.
 */
import type { Observation, RunCheck } from '../../types.ts';
import { readDataFile } from '../data_file.ts';
import { missingContractObject } from '../missing.ts';
import { anySession } from './any_session.ts';
import { anyJson } from './any_json.ts';
import { anyValue } from './any_value.ts';
import { backoff } from './backoff.ts';
import { config } from './config.ts';
import { errorText } from './error_text.ts';
import type { Given } from './given.ts';
import { lostEvent } from './lost_event.ts';
import { maximum } from './maximum.ts';
import { poison } from './poison.ts';
import { propertyFile, type PropertyFile } from './schema.ts';

/** @throws KitError 65 for mistakes in the file, CoverageError when it could not try what it names. */
export const run: RunCheck = async function* (task, sandbox, how) {
  const { data } = await readDataFile(propertyFile, task.file, how.root);
  try {
    yield* perform({ data, task, sandbox, run: how });
  } catch (thrown) {
    const missing = missingPart(thrown);
    if (missing === undefined) throw thrown;
    yield missing;
  }
};

/** The property of a file that was read. */
export function perform({ data, ...rest }: Given<PropertyFile>): AsyncGenerator<Observation> {
  switch (data.property) {
    case 'any-value':
      return anyValue({ data, ...rest });
    case 'any-json':
      return anyJson({ data, ...rest });
    case 'backoff':
      return backoff({ data, ...rest });
    case 'error-text':
      return errorText({ data, ...rest });
    case 'any-session':
      return anySession({ data, ...rest });
    case 'poison':
      return poison({ data, ...rest });
    case 'config':
      return config({ data, ...rest });
    case 'lost-event':
      return lostEvent({ data, ...rest });
    case 'maximum':
      return maximum({ data, ...rest });
  }
}

/** A part of the contract that is not there is a finding about the queue. */
function missingPart(thrown: unknown): Observation | undefined {
  if (!(thrown instanceof Error) || !('code' in thrown) || typeof thrown.code !== 'string')
    return undefined;
  const name = missingContractObject(thrown.code, thrown.message);
  if (name === undefined) return undefined;
  return { is: 'assertion', name, ok: false, seen: `${thrown.message} (${thrown.code})` };
}
