import { fileURLToPath } from 'node:url';
import {
  Client,
  Connection,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type ConnectionLike,
  type ConnectionOptions,
  type WorkflowClientInterceptor,
} from '@temporalio/client';
import {
  defaultPayloadConverter,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type DataConverter,
  type Payload,
} from '@temporalio/common';
import { AppError } from '#entities/kit/base/errors.ts';
import { newId } from '#entities/kit/base/ids.ts';
import type { ActivityQueue } from '#workflows/kit/activity-queue.ts';
import {
  originHeader,
  workflowTaskTimeoutMs,
  type StartInput,
  type WorkflowContract,
  type WorkOrigin,
} from '#workflows/kit/contract.ts';
import type { SearchValues } from '#workflows/kit/search-attributes.ts';
import type { StartOptions } from './start-options.ts';
import { searchPairs } from '#workflows/kit/search-pairs.ts';
import type { JobMiddleware } from './job.ts';
import { EncryptingCodec } from './payload-codec.ts';
import { currentOrigin } from './work-origin.ts';

export interface TemporalSettings {
  /** `host:port`. */
  readonly address: string;
  readonly namespace: string;
  /** Prefix of every task queue, workflow id and schedule id (`jobqueue.queueconf.Schema`). */
  readonly prefix: string;
  /** `sessions.encryptionkey`. */
  readonly encryptionKey: string;
  /** API key and TLS, from Temporal's own environment variables. */
  readonly credentials?: Pick<ConnectionOptions, 'apiKey' | 'tls'>;
  /** Time limit of one call, in milliseconds. */
  readonly timeoutMs?: number;
  /** Task queues that the configuration renames, by the name that contracts use. */
  readonly queueNames?: Readonly<Record<string, string>>;
  /** How activities are tried unless their workflow says otherwise (`jobqueue.queueconf`). */
  readonly activityDefaults?: Omit<ActivityQueue, 'taskQueue'>;
  /** Around every start of a workflow (`jobqueue.queueconf.JobInsertMiddleware` and its relatives). */
  readonly middleware?: JobMiddleware;
  /** Every start gets an id of its own, for tests (`jobqueue.queueconf.Test.DisableUniqueEnforcement`). */
  readonly hasRandomIds?: boolean;
}

const commonDefaults: Omit<ActivityQueue, 'taskQueue'> = {
  attemptTimeoutMs: 60_000,
  heartbeatTimeoutMs: 10_000,
  retry: { maximumAttempts: 25, initialIntervalMs: 1_000, backoffCoefficient: 2, maximumIntervalMs: 100_000 },
};

/** Splits `temporal://host:port/namespace` (`jobqueue.connectionuri`). */
export function parseConnectionUri(uri: string): { readonly address: string; readonly namespace: string } {
  const url = new URL(uri);
  return {
    address: `${url.hostname}:${url.port || '7233'}`,
    namespace: decodeURIComponent(url.pathname.slice(1)) || 'default',
  };
}

/** Converter of client and worker: failures and payloads pass the encrypting codec. */
export function encryptedDataConverter(codec: EncryptingCodec): DataConverter {
  return {
    payloadCodecs: [codec],
    failureConverterPath: fileURLToPath(new URL('../../../workflows/kit/failure-converter.ts', import.meta.url)),
  };
}

// Long because it has every way to start and wake workflows, each with what it throws.

/** The only access to Temporal from outside workflow code. Connects with the first call and reconnects by itself. */
export class TemporalGateway {
  readonly settings: TemporalSettings;
  readonly client: Client;
  /** Encrypts every payload that Temporal stores. */
  readonly codec: EncryptingCodec;
  readonly #connection: Connection;
  readonly #isEager: boolean;

  /**
   * @param workers connection of the workers of this process: workflows that are started over it begin there at once when a
   * worker has a free slot, without passing the task queue. Its owner closes it.
   */
  constructor(settings: TemporalSettings, workers?: ConnectionLike) {
    this.settings = settings;
    this.#isEager = workers !== undefined;
    this.#connection = Connection.lazy({
      address: settings.address,
      ...settings.credentials,
      // By default the pauses between connection attempts grow to two minutes: events would wait that long after an outage.
      channelArgs: { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 1_000 },
    });
    this.codec = new EncryptingCodec(settings.encryptionKey);
    this.client = new Client({
      connection: workers ?? this.#connection,
      namespace: settings.namespace,
      dataConverter: encryptedDataConverter(this.codec),
      interceptors: { workflow: [originCarrier(this.codec)] },
    });
  }

  get connection(): Connection {
    return this.#connection;
  }

  taskQueue(name: string): string {
    return `${this.settings.prefix}/${name}`;
  }

  /** The settings of an activity queue, by the name that contracts use. */
  activityQueue(name: string): ActivityQueue {
    return { taskQueue: this.taskQueue(this.settings.queueNames?.[name] ?? name), ...this.#activityDefaults };
  }

  /** The whole input of a workflow: what its caller gives, and the settings of the queue that its contract names. */
  inputOf<Input>({ queue }: WorkflowContract<Input>, input: StartInput<Input>): Input {
    // The contract names a queue exactly when `Input` has one (`defineContract`).
    return (queue === undefined ? input : { ...input, queue: this.activityQueue(queue) }) as Input;
  }

  get #activityDefaults(): Omit<ActivityQueue, 'taskQueue'> {
    return this.settings.activityDefaults ?? commonDefaults;
  }

  /** Time a worker has for one step of workflow code. */
  get workflowTaskTimeoutMs(): number {
    return workflowTaskTimeoutMs(this.#activityDefaults.heartbeatTimeoutMs);
  }

  workflowId<Input>(contract: WorkflowContract<Input>, input: StartInput<Input>): string {
    return `${this.settings.prefix}/${contract.workflowId(input)}`;
  }

  /**
   * Starts a workflow, or finds it started: the same input is the same work.
   * @returns whether this call started it
   * @throws AppError workflows_unavailable when Temporal cannot be reached in time
   */
  async start<Input>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    { search, repeat = 'once', startDelayMs = 0 }: StartOptions,
  ): Promise<boolean> {
    const { middleware, hasRandomIds } = this.settings;
    const ownId = this.workflowId(contract, input);
    const workflowId = hasRandomIds ? `${ownId}/${newId()}` : ownId;
    const taskQueue = this.taskQueue('workflows');
    const priorityKey = contract.priority?.(input);
    const start = () =>
      this.call('start a workflow', async () => {
        try {
          await this.client.workflow.start(contract.name, {
            args: [this.inputOf(contract, input)],
            taskQueue,
            workflowId,
            ...(startDelayMs > 0 ? { startDelay: startDelayMs } : { requestEagerStart: this.#isEager }),
            workflowIdReusePolicy:
              repeat === 'again' ? WorkflowIdReusePolicy.ALLOW_DUPLICATE : WorkflowIdReusePolicy.REJECT_DUPLICATE,
            workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
            workflowTaskTimeout: this.workflowTaskTimeoutMs,
            typedSearchAttributes: searchPairs(search),
            ...(priorityKey === undefined ? {} : { priority: { priorityKey } }),
          });
          return true;
        } catch (error) {
          if (error instanceof WorkflowExecutionAlreadyStartedError) return false;
          throw error;
        }
      });
    return middleware
      ? middleware({ type: 'start', name: contract.name, queue: taskQueue, workflowId }, start)
      : start();
  }

  /**
   * Sends a signal to a workflow, and starts it if it is not running.
   * @throws AppError workflows_unavailable when Temporal cannot be reached in time
   */
  async wake<Input>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    { signal, search }: { readonly signal: string; readonly search: SearchValues },
  ): Promise<void> {
    const { middleware } = this.settings;
    const workflowId = this.workflowId(contract, input);
    const taskQueue = this.taskQueue('workflows');
    const wake = () =>
      this.call('wake a workflow', async () => {
        await this.client.workflow.signalWithStart(contract.name, {
          ...this.#wokenOptions(contract, input, search),
          signal,
        });
        return true;
      });
    await (middleware
      ? middleware({ type: 'start', name: contract.name, queue: taskQueue, workflowId }, wake)
      : wake());
  }

  /**
   * Sends an update to a workflow, and starts it if it is not running. The workflow has accepted it when this returns; a second one with the
   * same id has no effect in the same run.
   * @throws AppError workflows_unavailable when Temporal cannot be reached, or no worker accepts it, in time
   */
  async update<Input>(
    contract: WorkflowContract<Input>,
    input: StartInput<Input>,
    {
      update,
      search,
    }: { readonly update: { readonly name: string; readonly id: string }; readonly search: SearchValues },
  ): Promise<void> {
    const { middleware } = this.settings;
    const options = this.#wokenOptions(contract, input, search);
    const send = () =>
      this.call('update a workflow', async () => {
        const startWorkflowOperation = new WithStartWorkflowOperation(contract.name, {
          ...options,
          workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
        });
        await this.client.workflow.startUpdateWithStart(update.name, {
          startWorkflowOperation,
          updateId: update.id,
          waitForStage: 'ACCEPTED',
          args: [],
        });
        return true;
      });
    const { taskQueue, workflowId } = options;
    await (middleware
      ? middleware({ type: 'start', name: contract.name, queue: taskQueue, workflowId }, send)
      : send());
  }

  #wokenOptions<Input>(contract: WorkflowContract<Input>, input: StartInput<Input>, search: SearchValues) {
    const { summary } = input as { readonly summary?: string };
    return {
      args: [this.inputOf(contract, input)],
      taskQueue: this.taskQueue('workflows'),
      workflowId: this.workflowId(contract, input),
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowTaskTimeout: this.workflowTaskTimeoutMs,
      typedSearchAttributes: searchPairs(search),
      ...(summary === undefined ? {} : { staticSummary: summary }),
    };
  }

  /** Runs calls to Temporal under a deadline. @throws AppError workflows_unavailable */
  async call<T>(doing: string, work: () => Promise<T>, timeoutMs = this.settings.timeoutMs ?? 5_000): Promise<T> {
    try {
      return await this.client.connection.withDeadline(Date.now() + timeoutMs, work);
    } catch (cause) {
      if (!isUnreachable(cause)) throw cause;
      throw new AppError('workflows_unavailable', `Temporal could not be reached to ${doing}.`, {
        cause,
        details: { retryAfterSeconds: 5 },
      });
    }
  }

  /** Resolves when the server answers. @throws AppError workflows_unavailable after two seconds */
  async reach(): Promise<void> {
    await this.call('start', () => this.client.connection.workflowService.getSystemInfo({}), 2_000);
  }

  /** Resolves when the server answers and has the namespace. @throws AppError workflows_unavailable after two seconds */
  async check(): Promise<void> {
    const { namespace } = this.settings;
    const { workflowService } = this.client.connection;
    await this.call('read the namespace', () => workflowService.describeNamespace({ namespace }), 2_000);
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

/** Whether Temporal refused the request itself (gRPC INVALID_ARGUMENT), so that repeating it is useless. */
export function isRefused(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ((cause as { code?: unknown }).code === 3) return true;
  }
  return false;
}

/** Whether Temporal has no such workflow, or no longer has it. */
export function isUnknownWorkflow(error: unknown): boolean {
  return error instanceof WorkflowNotFoundError;
}

/** The SDK does not encrypt headers, so the origin is encrypted here. */
function originCarrier(codec: EncryptingCodec): WorkflowClientInterceptor {
  return {
    async start(input, next) {
      const origin = currentOrigin();
      if (!origin) return next(input);
      const [header] = await codec.encode([defaultPayloadConverter.toPayload(origin)]);
      return next({ ...input, headers: { ...input.headers, ...(header ? { [originHeader]: header } : {}) } });
    },
  };
}

/** The origin in the headers of a piece of work, if there is any. */
export async function originIn(
  headers: Readonly<Record<string, Payload>>,
  codec: EncryptingCodec,
): Promise<WorkOrigin | undefined> {
  const header = headers[originHeader];
  if (!header) return undefined;
  const [plain] = await codec.decode([header]);
  return plain && defaultPayloadConverter.fromPayload<WorkOrigin>(plain);
}
