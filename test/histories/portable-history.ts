import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { EncryptingCodec } from '#activities/clients/temporal/payload-codec.ts';

const { Payload: WirePayload } = proto.temporal.api.common.v1;
const { History } = proto.temporal.api.history.v1;
type WorkflowHistory = proto.temporal.api.history.v1.IHistory;

const json = { bytes: String, longs: String, enums: String } as const;

/** Facts of the machine that recorded, by the name of their field. */
const machineFacts = new Set(['identity', 'workerVersion', 'binaryChecksum', 'stackTrace']);

export interface PortableOptions {
  readonly codec: EncryptingCodec;
  /** Prefix of the installation that recorded; `core` in what is written. */
  readonly prefix: string;
}

/**
 * A history as a file that anybody can replay and read: payloads and failures decrypted, nothing of the installation or the
 * machine in it.
 */
export async function portableHistory(history: WorkflowHistory, { codec, prefix }: PortableOptions): Promise<string> {
  const renamed = (text: string) => text.replaceAll(prefix, 'core');
  const opened = async (payload: object): Promise<Payload> => {
    const [plain = {}] = await codec.decode([WirePayload.fromObject(payload)]);
    const text = renamed(Buffer.from(plain.data ?? []).toString());
    return { metadata: plain.metadata ?? {}, data: Buffer.from(text) };
  };
  const portable = async (value: unknown): Promise<unknown> => {
    if (typeof value === 'string') return renamed(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return Promise.all(value.map(portable));
    if (isPayload(value)) return WirePayload.toObject(WirePayload.create(await opened(value)), json);
    const { encodedAttributes, ...rest } = value as Record<string, unknown>;
    const fields: Record<string, unknown> = {};
    for (const [key, held] of Object.entries(rest)) if (!machineFacts.has(key)) fields[key] = await portable(held);
    // The queue of one worker is named by process and host.
    if (fields['kind'] === 'TASK_QUEUE_KIND_STICKY') fields['name'] = 'sticky';
    // What the converter of failures had put away.
    if (isPayload(encodedAttributes))
      fields['message'] = defaultPayloadConverter.fromPayload<{ message: string }>(
        await opened(encodedAttributes),
      ).message;
    return fields;
  };
  return `${JSON.stringify(await portable(History.toObject(History.fromObject(history), json)), undefined, 1)}\n`;
}

/** What `portableHistory` wrote, as the worker takes it. */
export function parsedHistory(text: string): WorkflowHistory {
  return History.fromObject(JSON.parse(text) as object);
}

function isPayload(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'metadata' in value && 'data' in value;
}
