import { readdirSync, readFileSync } from 'node:fs';
import { homedir, hostname } from 'node:os';
import { join } from 'node:path';
import { Worker } from '@temporalio/worker';
import { describe, expect, inject, test } from 'vitest';
import { releaseWorkflows } from '#worker/release-workflows.ts';
import { installRuntime } from '../kit/world.ts';
import { parsedHistory } from './portable-history.ts';

const folder = import.meta.dirname;
/** Histories of this release and of all earlier ones, each in the folder of its version. */
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'));

const textOf = (file: string) => readFileSync(join(folder, file), 'utf8');

function replay(text: string): Promise<void> {
  installRuntime();
  const workflowBundle = { codePath: inject('stack').bundlePath };
  // The name of its queue begins with this: workflows take the prefix for ids of children from their queue.
  return Worker.runReplayHistory({ workflowBundle, replayName: 'core/replay' }, parsedHistory(text));
}

describe('recorded histories', () => {
  test.each(files)('%s replays with the workflows as they are now', async (file) => {
    await replay(textOf(file));
  });

  test('there is one of every workflow type', () => {
    const recorded = files.map(
      (file) => parsedHistory(textOf(file)).events?.[0]?.workflowExecutionStartedEventAttributes?.workflowType?.name,
    );
    expect(new Set(recorded)).toEqual(new Set(releaseWorkflows.map(({ contract }) => contract.name)));
  });

  test.each(files)('%s needs no key, and tells nothing of where it was recorded', (file) => {
    const history = textOf(file);
    const decoded = [...history.matchAll(/"(?:data|encoding)": "([^"]+)"/g)]
      .map(([, bytes]) => Buffer.from(bytes as string, 'base64').toString())
      .join('\n');
    expect(decoded).toContain('json/plain');
    for (const text of [history, decoded]) {
      expect(text).not.toContain('binary/encrypted');
      for (const fact of [hostname(), homedir(), process.cwd(), 'node_modules', '@example.com', '"identity"'])
        expect(text.includes(fact), fact).toBe(false);
    }
  });
});

describe('a history that the workflows would not have written is refused', () => {
  test('because another activity ran', async () => {
    const other = textOf('0.1.0/send-email.sent.json').replaceAll('"deliverEmail"', '"sendAnotherMail"');
    await expect(replay(other)).rejects.toThrow(/nondeterminism/iu);
  });

  test('because a child was not started', async () => {
    const other = textOf('0.1.0/deliver-events.failing.json').replaceAll('"deliverEvent"', '"deliverAnotherEvent"');
    await expect(replay(other)).rejects.toThrow(/nondeterminism/iu);
  });
});
