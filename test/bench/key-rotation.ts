import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { openApiInstallation } from './api-installation.ts';
import { probe, probeAtRate } from './http-probe.ts';
import { pace } from './pace.ts';
import type { Bench } from './row.ts';

const rate = 200;

/** Time after which a new key signs (`auth.token.jwkscachettl`), in milliseconds: the shortest that can be configured. */
const cacheTtlMs = 1_000;

/** Requests that fail while the keys of the folder are exchanged again and again. */
export const keyRotation: Bench = {
  name: 'key-rotation',
  run: async (say) => {
    const folder = await mkdtemp(join(tmpdir(), 'core-bench-keydir-'));
    await addKey(folder, 'key-0');
    const installation = await openApiInstallation({
      CORE_KEYWATCHER_ENABLED: 'true',
      CORE_KEYWATCHER_KEYDIR: folder,
      CORE_AUTH_TOKEN_JWKSCACHETTL: String(cacheTtlMs),
    });
    try {
      const { url, people } = installation;
      const [owner] = people as [(typeof people)[number]];
      // The last one is the newest; requests use all.
      const tokens = [owner.token];
      const rotations = { done: 0 };
      const rotating = new AbortController();
      const rotate = async () => {
        while (!rotating.signal.aborted) {
          const kid = `key-${rotations.done + 1}`;
          await addKey(folder, kid);
          await until(async () => {
            const answer = await probe({
              method: 'POST',
              url: `${url}/v1/switch`,
              token: tokens.at(-1),
              body: { target_organization_id: owner.organizationId },
            });
            if (answer.status !== 200) throw new Error(`key-rotation: no new token: ${answer.body}`);
            tokens.push((JSON.parse(answer.body) as { access_token: string }).access_token);
            return decodeProtectedHeader(tokens.at(-1) ?? '').kid === kid;
          });
          // Nobody uses tokens of the old key any more, as if they had expired.
          tokens.splice(0, tokens.length - 1);
          await pause(200);
          await rm(join(folder, `key-${rotations.done}.pem`));
          rotations.done++;
        }
      };
      const rotated = rotate();
      const answers = await probeAtRate(rate, pace.rounds * pace.roundMs, (index) => ({
        method: 'GET',
        url: `${url}/v1/tasks/${owner.taskIds[index % owner.taskIds.length]}`,
        token: tokens[index % tokens.length],
      }));
      rotating.abort();
      await rotated;
      const failures = answers.filter(({ status }) => status !== 200);
      say(`${answers.length} requests, ${rotations.done} new keys, ${failures.length} failures`);
      return [
        {
          name: 'key-rotation',
          unit: 'failures',
          ours: failures.length,
          reference: null,
          ratio: null,
          spread: 0,
          note: `of ${answers.length} requests at ${rate} a second while ${rotations.done} keys were exchanged`,
        },
      ];
    } finally {
      await installation.close();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function addKey(folder: string, kid: string): Promise<void> {
  const { privateKey } = generateKeyPairSync('ed25519');
  const draft = join(folder, `${kid}.draft`);
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  await rename(draft, join(folder, `${kid}.pem`));
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone())) await pause(100);
}
