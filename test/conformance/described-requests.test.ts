// Left to npm run prove; npm test has test/api/description/described-examples.test.ts.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { seedOf } from '../kit/depth.ts';
import { StartedProduct } from '../kit/processes/started-product.ts';

/** Version of the package on PyPI. */
const version = '4.32.5';

const folder = join(import.meta.dirname, 'openapi');
const environmentFolder = join(import.meta.dirname, '..', '..', '.local', `schemathesis-${version}`);

/** Operations that are left out, because they end the sign-in of the demo for good. */
const ending = '^/v1/(change-password|account($|/deactivate|/password)|2fa|organizations/[^/]+$)';

/** Runs a program to its end. @returns its exit code and what it printed */
async function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) =>
    child.once('error', reject).once('close', resolve),
  );
  return { code, output };
}

/** The command of schemathesis, installed beside the local servers with its first use. */
async function schemathesis(): Promise<string> {
  const command = join(environmentFolder, 'bin', 'schemathesis');
  if (existsSync(command)) return command;
  const made = await run('python3', ['-m', 'venv', environmentFolder]);
  expect(made.code, made.output).toBe(0);
  const pip = join(environmentFolder, 'bin', 'pip');
  const installed = await run(pip, ['install', '--quiet', '--disable-pip-version-check', `schemathesis==${version}`]);
  expect(installed.code, installed.output).toBe(0);
  return command;
}

test('schemathesis finds no request that the description allows and the server refuses, and no undescribed answer', async () => {
  const command = await schemathesis();
  // Schemathesis pauses while it makes values, sometimes between a connection and its request.
  const patience = { CORE_SERVER_READHEADERTIMEOUT: '60000', CORE_SERVER_READTIMEOUT: '60000' };
  const product = await StartedProduct.start([], { CORE_RATELIMIT_ENABLED: 'false', ...patience });
  try {
    const { urls, demo } = product.facts;
    const { code, output } = await run(
      command,
      [
        '--config-file=schemathesis.toml',
        'run',
        `${urls.api}/openapi.json`,
        '--phases=examples,fuzzing',
        '--max-examples=50',
        `--exclude-path-regex=${ending}`,
        '--continue-on-failure',
        '--suppress-health-check=all',
        `--seed=${Math.abs(seedOf('schemathesis'))}`,
      ],
      {
        API: urls.api,
        DEMO_EMAIL: demo.email,
        DEMO_PASSWORD: demo.password,
        SCHEMATHESIS_HOOKS: 'hooks',
        PYTHONPATH: folder,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    );
    expect(code, output.slice(-20_000)).toBe(0);
  } finally {
    await product.stop();
  }
});
