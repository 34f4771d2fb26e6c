import {
  ClientWriteRequestOnDuplicateWrites,
  ClientWriteRequestOnMissingDeletes,
  ConsistencyPreference,
  FgaApiValidationError,
  OpenFgaClient,
  type TupleKey,
  type UserClientConfigurationParams,
} from '@openfga/sdk';
import type { CheckRequest } from '#entities/kit/access/authorizer.ts';
import { AppError } from '#entities/kit/base/errors.ts';
import { withTimeout } from '#entities/kit/base/with-timeout.ts';
import type { ConditionedTuple, Tuple } from '#entities/kit/model/tuples.ts';
import { fingerprint, type WrittenModel } from './written-model.ts';

export interface AuthorizationStoreSettings {
  readonly hostUrl: string;
  readonly storeName: string;
  /** Empty: found, or created, by name. */
  readonly storeId: string;
  /** Empty: the newest model that equals ours, written when there is none. */
  readonly modelId: string;
  readonly createNewModel: boolean;
  /** See store-credentials.ts. */
  readonly credentials: Pick<UserClientConfigurationParams, 'credentials'>;
  readonly model: WrittenModel;
}

/** Longest time of one request to the store. */
const requestTimeoutMs = 3_000;

/** Longest time of a call, with the token it may need first: the SDK waits for tokens without an end. */
const callTimeoutMs = 8_000;

/** Time in which a store that did not answer in time is left alone, in milliseconds. */
const pauseMs = 1_000;

/**
 * The OpenFGA store of this installation. Connects, and finds or creates store and model, with the first call.
 *
 * Whoever calls holds a connection to the database meanwhile. So when the store stands still only one call at a time waits
 * in vain for it, and the others are refused at once.
 */
export class AuthorizationStore {
  readonly #settings: AuthorizationStoreSettings;
  #ready: Promise<OpenFgaClient> | undefined;
  /** Until then nobody asks; undefined while the store answers. */
  #silentUntil: number | undefined;

  constructor(settings: AuthorizationStoreSettings) {
    this.#settings = settings;
  }

  /** Asks whether the store answers now. @throws AppError authorization_unavailable */
  async ping(): Promise<void> {
    await this.#call((client) => client.readAuthorizationModels({ pageSize: 1 }));
  }

  /**
   * Writes and deletes tuples in one transaction of the store. What is there already, or gone already, is fine.
   * @throws AppError authorization_unavailable
   */
  async write(present: readonly Tuple[], absent: readonly Tuple[]): Promise<void> {
    await this.#call((client) =>
      client.write(
        { writes: present.map(keyOf), deletes: absent.map(keyOf) },
        {
          conflict: {
            onDuplicateWrites: ClientWriteRequestOnDuplicateWrites.Ignore,
            onMissingDeletes: ClientWriteRequestOnMissingDeletes.Ignore,
          },
        },
      ),
    );
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
    const page = await this.#call((client) =>
      client.read({}, { pageSize: 100, ...(after ? { continuationToken: after } : {}) }),
    );
    return { tuples: page.tuples.map(({ key }) => tupleOf(key)), next: page.continuation_token || undefined };
  }

  /** The tuple as the store has it; undefined when it does not. @throws AppError authorization_unavailable */
  async find(tuple: Tuple): Promise<ConditionedTuple | undefined> {
    const { tuples } = await this.#call((client) => client.read(keyOf(tuple)));
    return tuples.map(({ key }) => tupleOf(key))[0];
  }

  /**
   * Whether a tuple counts that only travels along, and why not when the store refuses it: a condition that the model does
   * not have, or that lacks a parameter.
   * @throws AppError authorization_unavailable
   */
  async counts(tuple: ConditionedTuple): Promise<{ readonly isAllowed: boolean; readonly refusal?: string }> {
    const { object, relation, subject } = tuple;
    const key = keyOf({ object, relation, subject });
    return this.#call(async (client) => {
      try {
        const answer = await client.check({ ...key, contextualTuples: [keyOf(tuple)] });
        return { isAllowed: answer.allowed ?? false };
      } catch (error) {
        if (!(error instanceof FgaApiValidationError)) throw error;
        return { isAllowed: false, refusal: error.message };
      }
    });
  }

  /**
   * Asks past the caches of the store, so that the answer knows of every write that has ended.
   * @throws AppError authorization_unavailable
   */
  async check({ context, ...tuple }: Tuple & Partial<CheckRequest>): Promise<boolean> {
    const contextualTuples = (context ?? []).map(keyOf);
    const answer = await this.#call((client) =>
      client.check({ ...keyOf(tuple), contextualTuples }, { consistency: ConsistencyPreference.HigherConsistency }),
    );
    return answer.allowed ?? false;
  }

  async #call<T>(work: (client: OpenFgaClient) => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    if (this.#silentUntil !== undefined) {
      if (startedAt < this.#silentUntil) throw unavailable(new Error('the store did not answer a moment ago'));
      // This call finds out whether it answers again.
      this.#silentUntil = startedAt + callTimeoutMs;
    }
    try {
      const result = await this.#inTime(work);
      this.#silentUntil = undefined;
      return result;
    } catch (cause) {
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
    const { hostUrl, credentials, storeId, modelId } = this.#settings;
    const client = new OpenFgaClient({
      apiUrl: hostUrl,
      // Requests wait for it, and whoever writes tuples tries again by itself: better soon refused than long retried.
      baseOptions: { timeout: requestTimeoutMs },
      retryParams: { maxRetry: 1, minWaitInMs: 50 },
      ...credentials,
    });
    client.storeId = storeId || (await this.#storeByName(client));
    client.authorizationModelId = modelId || (await this.#model(client));
    return client;
  }

  /** Store names are not unique. Of several, made by processes that started together, all take the oldest. */
  async #storeByName(client: OpenFgaClient): Promise<string> {
    const held = await this.#oldestStore(client);
    if (held) return held;
    const created = await client.createStore({ name: this.#settings.storeName });
    return (await this.#oldestStore(client)) ?? created.id;
  }

  async #oldestStore(client: OpenFgaClient): Promise<string | undefined> {
    const { storeName } = this.#settings;
    const found: { id: string; created_at: string }[] = [];
    let continuationToken: string | undefined;
    do {
      const page = await client.listStores({
        pageSize: 100,
        name: storeName,
        ...(continuationToken ? { continuationToken } : {}),
      });
      found.push(...page.stores.filter((store) => store.name === storeName));
      continuationToken = page.continuation_token || undefined;
    } while (continuationToken);
    return found.toSorted((a, b) => a.created_at.localeCompare(b.created_at) || a.id.localeCompare(b.id))[0]?.id;
  }

  async #model(client: OpenFgaClient): Promise<string> {
    const wanted = this.#settings.model;
    if (!this.#settings.createNewModel) {
      const { authorization_models: held } = await client.readAuthorizationModels({ pageSize: 10 });
      const same = held.find((model) => fingerprint(model) === fingerprint(wanted));
      if (same) return same.id;
    }
    const written = await client.writeAuthorizationModel(wanted);
    return written.authorization_model_id;
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
    { cause: told(cause), details: { retryAfterSeconds: 1 } },
  );
}

/** What operators may read of an error: those of the SDK carry requests, with tokens and client secrets in them. */
function told(cause: unknown): Error {
  const { name, message, statusCode } = cause as { name?: unknown; message?: unknown; statusCode?: unknown };
  const error = new Error(String(message), ...(typeof statusCode === 'number' ? [{ cause: statusCode }] : []));
  error.name = String(name);
  return error;
}
