/**
 * The `container:` target (kit.md): a server of an image, started for this run alone and removed with
 * its data at every end. Testcontainers is loaded only here, since it takes most of a second.
 */
import { randomBytes } from 'node:crypto';
import type { StartedTestContainer } from 'testcontainers';
import { KitError, messageOf } from '../errors.ts';
import { makeServer } from '../sandbox/server.ts';
import type { Need, Server } from '../types.ts';
import { aborting } from './aborting.ts';

const PORT = 5432;
/** Pulling an image may take minutes; a server that does not answer after that never will. */
const START_LIMIT_MS = 120_000;
/** As for the url target, without what needs the server's files or processes. */
const CAN: ReadonlySet<Need> = new Set<Need>(['own_server', 'superuser', 'pgtap']);

/**
 * Starts a container of an image that understands POSTGRES_PASSWORD, as the official ones do.
 * Throws KitError 69 when there is no engine, no such image or no server in it; rejects with the
 * signal's reason when aborted. Nothing is left behind in either case.
 */
export async function openContainer(
  image: string,
  options: { signal: AbortSignal; progress: (text: string) => void },
): Promise<Server> {
  const { signal, progress } = options;
  const password = randomBytes(18).toString('base64url');
  progress(`starting a container of ${image}`);
  const container = await unlessAborted(started(image, password), signal);
  const connection = (database: string) => ({
    host: container.getHost(),
    port: container.getMappedPort(PORT),
    user: 'postgres',
    password,
    database,
    ssl: false,
  });
  try {
    return await makeServer({
      can: CAN,
      connection,
      url: (database) => {
        const { host, port, user } = connection(database);
        return `postgresql://${user}:${password}@${host}:${port}/${database}?sslmode=disable`;
      },
      maintenance: 'postgres',
      // They go with the container.
      dropDatabases: false,
      close: () => stop(container),
    });
  } catch (error) {
    await stop(container);
    throw error;
  }
}

/** A container that was still starting when the run was aborted is stopped as soon as it is there. */
async function unlessAborted(
  starting: Promise<StartedTestContainer>,
  signal: AbortSignal,
): Promise<StartedTestContainer> {
  try {
    return await aborting(starting, signal);
  } catch (error) {
    await starting.then(stop, () => undefined);
    throw error;
  }
}

async function started(image: string, password: string): Promise<StartedTestContainer> {
  const { GenericContainer, Wait } = await library();
  try {
    return await new GenericContainer(image)
      .withEnvironment({ POSTGRES_PASSWORD: password })
      .withExposedPorts(PORT)
      .withCommand(['postgres', '-c', 'fsync=off', '-c', 'max_connections=200'])
      // The official images start the server once for their own set-up, and then for good.
      .withWaitStrategy(
        Wait.forAll([
          Wait.forLogMessage(/database system is ready to accept connections/),
          Wait.forHealthCheck(),
        ]),
      )
      .withHealthCheck({
        // Over TCP: while it sets itself up, the server listens on its socket alone.
        test: ['CMD-SHELL', 'pg_isready -h 127.0.0.1 -U postgres'],
        interval: 250,
        timeout: 2_000,
        retries: START_LIMIT_MS / 250,
      })
      .withStartupTimeout(START_LIMIT_MS)
      .start();
  } catch (error) {
    throw new KitError(
      69,
      `no server in a container of ${image}: ${messageOf(error)}`,
      hint(error),
    );
  }
}

function hint(error: unknown): string {
  return /container runtime/i.test(messageOf(error))
    ? 'start a container engine (docker info must answer), or use --target embedded'
    : 'name an image whose entry point reads POSTGRES_PASSWORD, such as container:postgres:17';
}

async function library(): Promise<typeof import('testcontainers')> {
  try {
    return await import('testcontainers');
  } catch (error) {
    throw new KitError(
      69,
      `container targets need the package testcontainers: ${messageOf(error)}`,
      'npm install testcontainers@11, or use --target embedded',
    );
  }
}

async function stop(container: StartedTestContainer): Promise<void> {
  await container.stop({ remove: true, removeVolumes: true, timeout: 0 });
}
