/** What this package says of itself in package.json. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

const shape = z.object({ version: z.string().regex(/^\d+\.\d+\./) });

/** The kit's version, `2.0.0`, and the release of the substrate that it ships, `2.0`. */
export async function packageFacts(root: string): Promise<{ version: string; release: string }> {
  const text = await readFile(join(root, 'package.json'), 'utf8');
  const { version } = shape.parse(JSON.parse(text));
  return { version, release: version.split('.').slice(0, 2).join('.') };
}
