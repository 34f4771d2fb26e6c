import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadConfiguration, type LoadedConfiguration } from '#config/reading/load-configuration.ts';
import { ConfigurationError, type Problem } from '#config/schema/config-problem.ts';

/** The least that a development configuration needs, as variables. */
export const leastEnvironment = {
  CORE_SERVER_DEV: 'true',
  CORE_AUTH_TOKEN_KID: 'key-1',
  CORE_AUTH_TOKEN_AUDIENCE: 'https://api.example.com',
  CORE_AUTH_TOKEN_ISSUER: 'https://api.example.com',
  CORE_AUTHZ_HOSTURL: 'http://127.0.0.1:8080',
  CORE_DB_PRIMARYDBSOURCE: 'postgres://core:pw@127.0.0.1:5432/core',
} as const;

const longSecret = 'x'.repeat(40);

/** What production needs in addition. */
export const productionEnvironment = {
  ...leastEnvironment,
  CORE_SERVER_DEV: 'false',
  CORE_SESSIONS_SIGNINGKEY: longSecret,
  CORE_SESSIONS_ENCRYPTIONKEY: longSecret,
  CORE_TOTP_SECRET: longSecret,
} as const;

/** A folder of one test file, with loads that never see the variables of this process. */
export class Sandbox {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async make(): Promise<Sandbox> {
    return new Sandbox(await mkdtemp(join(tmpdir(), 'config-')));
  }

  async remove(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  /** Writes a file below the folder. */
  async write(name: string, content: string | Uint8Array): Promise<string> {
    const path = join(this.directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
    return path;
  }

  /** Loads `content` as the file `c.yaml`, with the least environment unless told otherwise. */
  async load(
    content: string | Uint8Array | undefined,
    environment: Readonly<Record<string, string>> = leastEnvironment,
  ): Promise<LoadedConfiguration> {
    if (content === undefined) return loadConfiguration({ directory: this.directory, environment });
    await this.write('c.yaml', content);
    return loadConfiguration({ directory: this.directory, environment, file: 'c.yaml' });
  }

  /** The problems of a load; an empty list when there are none. */
  async problems(
    content: string | Uint8Array | undefined,
    environment: Readonly<Record<string, string>> = leastEnvironment,
  ): Promise<readonly Problem[]> {
    return problemsOf(this.load(content, environment));
  }
}

/** The problems that a load ends with; an empty list when it succeeds. */
export async function problemsOf(load: Promise<unknown>): Promise<readonly Problem[]> {
  try {
    await load;
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
}
