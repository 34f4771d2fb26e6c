import { afterAll, beforeAll, expect, test } from 'vitest';
import { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';
import { armFailpoints } from '#entities/kit/base/failpoint.ts';
import { eventually } from '../kit/eventually.ts';
import { storedRuns, type StoredRun } from '../kit/histories.ts';
import { waitForRuns } from '../kit/runs.ts';
import { openWorld, type World } from '../kit/world.ts';

// T-123: whoever can read Temporal's storage reads nothing of what workflows were given, returned or failed with.

let world: World;
let runs: StoredRun[];

beforeAll(async () => {
  world = await openWorld({ worker: true });
  // Sending fails at first, by an error that nobody foresaw.
  armFailpoints([{ name: 'email-accepted', action: 'throw', after: 0 }]);
  await world.client().post('/v1/register', { email: 'encrypted@example.com', password: 'correct horse battery' });
  await eventually(() => world.logs.some((line) => JSON.stringify(line).includes('failpoint email-accepted')));
  armFailpoints([]);
  await waitForRuns(world, 'WorkflowType = "sendEmail" AND ExecutionStatus = "Completed"', 1);
  runs = await storedRuns(world);
});
afterAll(() => world.close());

test('T-123: inputs and results of workflows are stored encrypted', () => {
  const mail = runs.filter(({ id }) => id.startsWith('email/'));
  expect(mail).toHaveLength(1);
  for (const { stored, decrypted } of mail) {
    expect(decrypted).toContain('verify-address');
    expect(stored).not.toContain('verify-address');
    expect(stored).not.toContain('encrypted@example.com');
  }
});

test('T-123: failures are stored encrypted, and an unexpected error does not store its message', () => {
  expect(runs.some(({ decrypted }) => decrypted.includes('see the log of the worker'))).toBe(true);
  for (const { id, stored, decrypted } of runs) {
    expect(stored, id).not.toContain('see the log of the worker');
    expect(stored, id).not.toContain('failures.ts');
    expect(stored + decrypted, id).not.toContain('failpoint email-accepted');
  }
});

test('T-123: an installation with another key cannot decrypt a payload', async () => {
  const codec = new EncryptingCodec(world.config.current.sessions.encryptionkey);
  const foreign = new EncryptingCodec('another key that is long enough to be one');
  const payload = { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"canary"') };
  const [encrypted] = await codec.encode([payload]);
  if (!encrypted?.data) throw new Error('nothing was encrypted');
  await expect(foreign.decode([encrypted])).rejects.toThrow(/key/);
  const changed = Buffer.from(encrypted.data);
  changed[20] = (changed[20] ?? 0) ^ 1;
  await expect(codec.decode([{ ...encrypted, data: changed }])).rejects.toThrow();
  expect(Buffer.from((await codec.decode([encrypted]))[0]?.data ?? []).toString()).toBe('"canary"');
});
