import { setTimeout as pause } from 'node:timers/promises';
import {
  ClientWriteRequestOnDuplicateWrites,
  ClientWriteRequestOnMissingDeletes,
  ConsistencyPreference,
  FgaApiError,
  FgaApiValidationError,
  OpenFgaClient,
  type TupleKey,
  type UserClientConfigurationParams,
} from '@openfga/sdk';
import type { CheckRequest } from '#entities/kit/access/authorizer.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { inSpan } from '#entities/kit/base/trace.ts';
import { withTimeout } from '#entities/kit/base/concurrency/with-timeout.ts';
import type { ConditionedTuple, Tuple } from '#entities/kit/model/tuples.ts';
import { chooseStore } from './choose-store.ts';
import { claimStore, ForeignStore, isOwnerTuple, withOwnerType, type Installation } from './store-owner.ts';
import { fingerprint, type WrittenModel } from './written-model.ts';

export interface AuthorizationStoreSettings {
  readonly hostUrl: string;
  readonly storeName: string;
  /** Empty: found, or created, by name, or by name and installation where the name belongs to another installation. */
  readonly storeId: string;
  /** Empty: the newest model that equals ours, written when there is none. */
  readonly modelId: string;
  readonly createNewModel: boolean;
  /** See store-credentials.ts. */
  readonly credentials: Pick<UserClientConfigurationParams, 'credentials'>;
  readonly model: WrittenModel;
  /** Reads the installation to which the store must belong. */
  readonly installation: () => Promise<Installation>;
}

export interface StoreCall {
  readonly operation: 'check' | 'read' | 'write' | 'ping';
  /** skipped: the store did not answer a moment ago, so it was not asked. */
  readonly outcome: 'answered' | 'failed' | 'skipped';
  readonly durationMs: number;
}

const requestTimeoutMs = 3_000;

/** Time limit of a call, in milliseconds; it includes the token, for which the SDK has no limit. */
const callTimeoutMs = 8_000;

/** Attempts at a write that meets others of the same tuples. */
const maxWrites = 5;

/** Maximum pause before the second attempt, in milliseconds; it grows with each. */
const conflictPauseMs = 10;

/** Time in which a store that did not answer is not called again, in milliseconds. */
const pauseMs = 1_000;

/**
 * The OpenFGA store of this installation. The first call connects, finds or creates store and model, and claims the store.
 *
 * Callers hold a database connection while they wait. So while the store does not answer, one call at a time tries it, and the
 * others fail at once.
 */
export class AuthorizationStore {
  readonly #settings: AuthorizationStoreSettings;
  readonly #onCall: (call: StoreCall) => void;
  #ready: Promise<OpenFgaClient> | undefined;
  /** Until then calls fail at once; undefined while the store answers. */
  #silentUntil: number | undefined;

  /** @param onCall called after every call */
  constructor(settings: AuthorizationStoreSettings, onCall: (call: StoreCall) => void = () => {}) {
    this.#settings = settings;
    this.#onCall = onCall;
  }

  /**
   * Refuses the store of another installation, if the store can be reached now. Later, every call does.
   * @throws AppError authorization_unavailable
   */
  async refuseForeignStore(): Promise<void> {
    const reason = await withTimeout(
      this.#client().then(
        () => undefined,
        (error: unknown) => error,
      ),
      requestTimeoutMs,
      () => undefined,
    );
    if (reason instanceof ForeignStore)
      throw new AppError('authorization_unavailable', reason.message, { cause: reason });
  }

  /** Asks whether the store answers now. @throws AppError authorization_unavailable */
  async ping(): Promise<void> {
    await this.#call('ping', (client) => client.readAuthorizationModels({ pageSize: 1 }));
  }

  /**
   * Writes and deletes tuples in one transaction of the store; tuples that are there, or gone, already are no error.
   * @throws AppError authorization_unavailable
   */
  async write(present: readonly Tuple[], absent: readonly Tuple[]): Promise<void> {
    const conflict = {
      onDuplicateWrites: ClientWriteRequestOnDuplicateWrites.Ignore,
      onMissingDeletes: ClientWriteRequestOnMissingDeletes.Ignore,
    };
    const request = { writes: present.map(keyOf), deletes: absent.map(keyOf) };
    await this.#call('write', (client) => againOnConflict(() => client.write(request, { conflict })));
  }

  /** All tuples of the store; for comparisons. @throws AppError authorization_unavailable */
  async *tuples(): AsyncGenerator<ConditionedTuple> {
    let after: string | undefined;
    do {
      const page = await this.tuplePage(after);
      yield* page.tuples;
      after = page.next;
    } while (after !== undefined);
  }

  /**
   * Up to a hundred tuples of the store.
   * @param after `next` of the page before; undefined: the first page
   * @returns `next` undefined on the last page
   * @throws AppError authorization_unavailable
   */
  async tuplePage(
    after: string | undefined,
  ): Promise<{ readonly tuples: readonly ConditionedTuple[]; readonly next: string | undefined }> {
    const page = await this.#call('read', (client) =>
      client.read({}, { pageSize: 100, ...(after ? { continuationToken: after } : {}) }),
    );
    const tuples = page.tuples.map(({ key }) => tupleOf(key)).filter((tuple) => !isOwnerTuple(tuple));
    return { tuples, next: page.continuation_token || undefined };
  }

  /** The tuple as the store has it; undefined when it does not. @throws AppError authorization_unavailable */
  async find(tuple: Tuple): Promise<ConditionedTuple | undefined> {
    const { tuples } = await this.#call('read', (client) => client.read(keyOf(tuple)));
    return tuples.map(({ key }) => tupleOf(key))[0];
  }

  /**
   * Whether a contextual tuple has its effect, and why the store refuses it: its condition is not in the model, or lacks a
   * parameter.
   * @throws AppError authorization_unavailable
   */
  async counts(tuple: ConditionedTuple): Promise<{ readonly isAllowed: boolean; readonly refusal?: string }> {
    const { object, relation, subject } = tuple;
    const key = keyOf({ object, relation, subject });
    return this.#call('check', async (client) => {
      try {
        const answer = await client.check({ ...key, contextualTuples: [keyOf(tuple)] });
        return { isAllowed: answer.allowed ?? false };
      } catch (error) {
        if (!(error instanceof FgaApiValidationError)) throw error;
        return { isAllowed: false, refusal: error.message };
      }
    });
  }

  /** Checks with higher consistency, so that the result includes every write that has ended. @throws AppError authorization_unavailable */
  async check({ context, ...tuple }: Tuple & Partial<CheckRequest>): Promise<boolean> {
    const contextualTuples = (context ?? []).map(keyOf);
    const answer = await this.#call('check', (client) =>
      client.check({ ...keyOf(tuple), contextualTuples }, { consistency: ConsistencyPreference.HigherConsistency }),
    );
    return answer.allowed ?? false;
  }

  async #call<T>(operation: StoreCall['operation'], work: (client: OpenFgaClient) => Promise<T>): Promise<T> {
    return inSpan(`authorization ${operation}`, { 'peer.service': 'openfga' }, () => this.#guarded(operation, work));
  }

  async #guarded<T>(operation: StoreCall['operation'], work: (client: OpenFgaClient) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    const ended = (outcome: StoreCall['outcome']) =>
      this.#onCall({ operation, outcome, durationMs: performance.now() - startedAt });
    if (this.#silentUntil !== undefined) {
      if (startedAt < this.#silentUntil) {
        ended('skipped');
        throw unavailable(new Error('the store did not answer a moment ago'));
      }
      // This call finds out whether it answers again.
      this.#silentUntil = startedAt + callTimeoutMs;
    }
    try {
      const result = await this.#inTime(work);
      this.#silentUntil = undefined;
      ended('answered');
      return result;
    } catch (cause) {
      ended('failed');
      const isSilent = performance.now() - startedAt >= requestTimeoutMs;
      this.#silentUntil = isSilent ? performance.now() + pauseMs : undefined;
      throw unavailable(cause);
    }
  }

  async #inTime<T>(work: (client: OpenFgaClient) => Promise<T>): Promise<T> {
    const ready = this.#client();
    return withTimeout(ready.then(work), callTimeoutMs, () => {
      // The connection may be what hangs: the next call opens another one.
      if (this.#ready === ready) this.#ready = undefined;
      throw new Error(`no answer within ${callTimeoutMs} ms`);
    });
  }

  #client(): Promise<OpenFgaClient> {
    if (this.#ready) return this.#ready;
    const ready = this.#connect();
    this.#ready = ready;
    ready.catch(() => {
      // The next call tries again.
      if (this.#ready === ready) this.#ready = undefined;
    });
    return ready;
  }

  async #connect(): Promise<OpenFgaClient> {
    const { hostUrl, credentials, storeId, storeName, modelId } = this.#settings;
    const client = new OpenFgaClient({
      apiUrl: hostUrl,
      // Requests wait for it and tuple writes are repeated anyway, so it fails early instead of retrying for long.
      baseOptions: { timeout: requestTimeoutMs },
      retryParams: { maxRetry: 1, minWaitInMs: 50 },
      ...credentials,
    });
    const installation = await this.#settings.installation();
    const ownership = await chooseStore(client, installation, { storeId, storeName });
    client.authorizationModelId = modelId || (await this.#model(client));
    // A model that was given by its id may lack the type of the claim.
    if (ownership === 'free' && modelId === '') await claimStore(client, installation);
    return client;
  }

  async #model(client: OpenFgaClient): Promise<string> {
    const wanted = withOwnerType(this.#settings.model);
    if (!this.#settings.createNewModel) {
      const { authorization_models: held } = await client.readAuthorizationModels({ pageSize: 10 });
      const same = held.find((model) => fingerprint(model) === fingerprint(wanted));
      if (same) return same.id;
    }
    const written = await client.writeAuthorizationModel(wanted);
    return written.authorization_model_id;
  }
}

/** The store refuses one of two writes of a tuple at the same time (409), although duplicates are to be ignored: it is sent again. */
async function againOnConflict<T>(write: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof FgaApiError && error.statusCode === 409;
      if (!isConflict || attempt === maxWrites) throw error;
      await pause(Math.random() * conflictPauseMs * attempt);
    }
  }
}

function keyOf({ object, relation, subject, condition }: ConditionedTuple): TupleKey {
  return {
    user: subject,
    relation,
    object,
    ...(condition ? { condition: { name: condition.name, context: condition.context } } : {}),
  };
}

function tupleOf({ object, relation, user, condition }: TupleKey): ConditionedTuple {
  return {
    object,
    relation,
    subject: user,
    ...(condition ? { condition: { name: condition.name, context: { ...condition.context } } } : {}),
  };
}

function unavailable(cause: unknown): AppError {
  return new AppError(
    'authorization_unavailable',
    'The authorization store cannot be reached; try again in a moment.',
    { cause: withoutSecrets(cause), details: { retryAfterSeconds: 1 } },
  );
}

/** Name and message of an error of the SDK, without its request: that contains tokens and client secrets. */
function withoutSecrets(cause: unknown): Error {
  const { name, message, statusCode } = cause as { name?: unknown; message?: unknown; statusCode?: unknown };
  const error = new Error(String(message), ...(typeof statusCode === 'number' ? [{ cause: statusCode }] : []));
  error.name = String(name);
  return error;
}
