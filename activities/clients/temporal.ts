import { fileURLToPath } from 'node:url';
import {
  Client,
  Connection,
  WorkflowExecutionAlreadyStartedError,
  type ConnectionOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import {
  defaultPayloadConverter,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type DataConverter,
} from '@temporalio/common';
import { AppError } from '#entities/kit/errors.ts';
import { originHeader, type WorkflowContract } from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';
import { searchPairs } from '#workflows/kit/search-pairs.ts';
import { EncryptingCodec } from './payload-codec.ts';
import { currentOrigin } from './work-origin.ts';

export interface TemporalSettings {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** Before every task queue, workflow id and schedule id (`jobqueue.queueconf.Schema`). */
  readonly prefix: string;
  /** `sessions.encryptionkey`. */
  readonly encryptionKey: string;
  /** API key and TLS, from Temporal's own environment variables. */
  readonly credentials?: Pick<ConnectionOptions, 'apiKey' | 'tls'>;
  /** Longest one call may take, in milliseconds. */
  readonly timeoutMs?: number;
}

/** Splits `temporal://host:port/namespace` (`jobqueue.connectionuri`). */
export function parseConnectionUri(uri: string): { readonly address: string; readonly namespace: string } {
  const url = new URL(uri);
  return {
    address: `${url.hostname}:${url.port || '7233'}`,
    namespace: decodeURIComponent(url.pathname.slice(1)) || 'default',
  };
}

/** Converter of client and worker: failures and payloads pass the encrypting codec. */
export function encryptedDataConverter(encryptionKey: string): DataConverter {
  return {
    payloadCodecs: [new EncryptingCodec(encryptionKey)],
    failureConverterPath: fileURLToPath(new URL('../../workflows/kit/failure-converter.ts', import.meta.url)),
  };
}

export interface StartOptions {
  readonly search: SearchValues;
  /**
   * `once`: a workflow of this id that has ended stays ended (default). `again`: it may run again; for work that is
   * idempotent and whose rows say that it is not done.
   */
  readonly repeat?: 'once' | 'again';
}

/** The only way to Temporal from outside a workflow. Connects with the first call and again after every loss. */
export class TemporalGateway {
  readonly settings: TemporalSettings;
  readonly #connection: Connection;
  readonly client: Client;

  constructor(settings: TemporalSettings) {
    this.settings = settings;
    this.#connection = Connection.lazy({ address: settings.address, ...settings.credentials });
    this.client = new Client({
      connection: this.#connection,
      namespace: settings.namespace,
      dataConverter: encryptedDataConverter(settings.encryptionKey),
      interceptors: { workflow: [carryOrigin] },
    });
  }

  get connection(): Connection {
    return this.#connection;
  }

  taskQueue(name: string): string {
    return `${this.settings.prefix}/${name}`;
  }

  workflowId<Input>(contract: WorkflowContract<Input>, input: Input): string {
    return `${this.settings.prefix}/${contract.workflowId(input)}`;
  }

  /**
   * Starts a workflow, or finds it started: the same input is the same work.
   * @returns whether this call started it
   * @throws AppError workflows_unavailable when Temporal cannot be reached in time
   */
  async start<Input>(
    contract: WorkflowContract<Input>,
    input: Input,
    { search, repeat = 'once' }: StartOptions,
  ): Promise<boolean> {
    return this.call('start a workflow', async () => {
      try {
        await this.client.workflow.start(contract.name, {
          args: [input],
          taskQueue: this.taskQueue('workflows'),
          workflowId: this.workflowId(contract, input),
          workflowIdReusePolicy:
            repeat === 'again' ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.REJECT_DUPLICATE,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
          typedSearchAttributes: searchPairs(search),
        });
        return true;
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
        throw error;
      }
    });
  }

  /** Runs calls to Temporal under a deadline. @throws AppError workflows_unavailable */
  async call<T>(doing: string, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#connection.withDeadline(Date.now() + (this.settings.timeoutMs ?? 5_000), work);
    } catch (cause) {
      if (!isUnreachable(cause)) throw cause;
      throw new AppError('workflows_unavailable', `Temporal could not be reached to ${doing}.`, {
        cause,
        details: { retryAfterSeconds: 5 },
      });
    }
  }

  /** Resolves when the server answers and has the namespace. */
  async check(): Promise<void> {
    await this.#connection.withDeadline(Date.now() + 2_000, () =>
      this.#connection.workflowService.describeNamespace({ namespace: this.settings.namespace }),
    );
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }
}

/** gRPC: CANCELLED, UNKNOWN (connection dropped), DEADLINE_EXCEEDED, RESOURCE_EXHAUSTED, UNAVAILABLE. */
const transientCodes = new Set([1, 2, 4, 8, 14]);

function isUnreachable(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as { code?: unknown };
    if (typeof code === 'number' && transientCodes.has(code)) return true;
    if (cause.name === 'TransportError') return true;
  }
  return false;
}

const carryOrigin: WorkflowClientInterceptor = {
  start(input, next) {
    const origin = currentOrigin();
    if (!origin) return next(input);
    return next({ ...input, headers: { ...input.headers, [originHeader]: defaultPayloadConverter.toPayload(origin) } });
  },
};
