/** What a property is given to work with. */
import type { Run, Sandbox } from '../../types.ts';

export type Given<Data> = { data: Data; sandbox: Sandbox; run: Run };
