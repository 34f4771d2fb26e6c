import type { Payload } from '@temporalio/common';
import { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';
import type { World } from './world.ts';

export interface StoredRun {
  readonly id: string;
  /** Everything that Temporal holds of the run, as text: names, attributes, and the bytes of payloads as they are stored. */
  readonly stored: string;
  /** The payloads, decrypted with the key. */
  readonly decrypted: string;
}

/** The whole history of every run of this installation, of which there must be some. */
export async function storedRuns({ name, runtime, config }: World): Promise<StoredRun[]> {
  const codec = new EncryptingCodec(config.current.sessions.encryptionkey);
  const { workflow } = runtime.temporal.client;
  const runs = await Array.fromAsync(workflow.list({ query: `WorkflowId STARTS_WITH "${name}/"` }));
  if (runs.length === 0) throw new Error('there are no runs');
  return Promise.all(
    runs.map(async ({ workflowId, runId, raw }) => {
      const history = await workflow.getHandle(workflowId, runId).fetchHistory();
      const texts: string[] = [];
      const payloads: Payload[] = [];
      collect([raw, history], texts, payloads);
      const decrypted = await codec.decode(payloads);
      return {
        id: workflowId.slice(name.length + 1),
        stored: texts.join('\n'),
        decrypted: decrypted.map(({ data }) => textOf(data ?? new Uint8Array())).join('\n'),
      };
    }),
  );
}

function collect(value: unknown, texts: string[], payloads: Payload[]): void {
  if (typeof value === 'string') texts.push(value);
  else if (value instanceof Uint8Array) texts.push(textOf(value));
  else if (typeof value === 'object' && value !== null) {
    if ('metadata' in value && 'data' in value) payloads.push(value as Payload);
    for (const [key, item] of Object.entries(value)) {
      texts.push(key);
      collect(item, texts, payloads);
    }
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8');
}
