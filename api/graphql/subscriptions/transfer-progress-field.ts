import { GraphQLID, GraphQLNonNull } from 'graphql';
import type { EntityModule } from '#entities/kit/model/define.ts';
import { existingId, missingRecord } from '#entities/kit/model/missing-record.ts';
import type { RecordSelection } from '#entities/kit/read/selection.ts';
import { isAppError, isRefusal } from '#entities/kit/base/errors.ts';
import type { RecordJson } from '#entities/kit/unit/answers.ts';
import type { RecordSubscription } from '../../subscriptions/record-subscription.ts';
import { endReason } from '../../subscriptions/subscription-hub.ts';
import type { Types } from '../hand-written-field.ts';
import type { FieldConfig } from '../passthrough-field.ts';
import { streaming, type StreamContext, type StreamSource } from './stream-field.ts';

/** Name of a value that no response name can have. */
const endName = 'its end';

/** Progress of one export or import. It needs no cursor: each message has all there is to know. */
export function transferProgressField(types: Types, module: EntityModule): FieldConfig {
  return {
    type: new GraphQLNonNull(types.objectOf(module)),
    description: `One ${module.typeName} as it is now, and again whenever it has changed, until the work has ended. A subscription that starts again gets the current status.`,
    args: { id: { type: new GraphQLNonNull(GraphQLID), description: 'Id of the record.' } },
    extensions: streaming(async ({ id }, context): Promise<StreamSource> => {
      const existing = existingId(module, id as string);
      const selection = context.readerOf(context.info).record(module);
      const subscription = await context.hub.subscribe(context.connection, {
        kinds: [module.topic],
        ids: new Set([existing]),
      });
      return new TransferProgress(module, existing, { selection, subscription, context });
    }),
  };
}

interface ProgressOptions {
  readonly selection: RecordSelection;
  readonly subscription: RecordSubscription;
  readonly context: StreamContext;
}

class TransferProgress implements StreamSource {
  readonly #module: EntityModule;
  readonly #id: string;
  readonly #options: ProgressOptions;
  #isBegun = false;
  #isEnded = false;

  constructor(module: EntityModule, id: string, options: ProgressOptions) {
    this.#module = module;
    this.#id = id;
    this.#options = options;
  }

  async next(): Promise<RecordJson | undefined> {
    try {
      if (this.#isEnded) {
        this.close('complete');
        return undefined;
      }
      if (this.#isBegun && !(await this.#hasChanged())) return undefined;
      this.#isBegun = true;
      const record = await this.#read();
      this.#isEnded = record[endName] !== null;
      return record;
    } catch (error) {
      this.close(endReason(error));
      throw error;
    }
  }

  close(reason: string): void {
    const { context, subscription } = this.#options;
    context.hub.unsubscribe(context.connection, subscription, reason);
  }

  /** Several changes at once are one. @returns false when it was closed */
  async #hasChanged(): Promise<boolean> {
    const { subscription } = this.#options;
    for (;;) {
      try {
        const taken = await subscription.next();
        if (!taken) return false;
        if (taken.length > 0) return true;
      } catch (error) {
        if (!isAppError(error) || isRefusal(error)) throw error;
      }
    }
  }

  /** @throws AppError not_found also when it was deleted, or when the right to it has ended */
  async #read(): Promise<RecordJson> {
    const { selection, context } = this.#options;
    const { module, parts } = selection;
    const withEnd: RecordSelection = { module, parts: [...parts, { is: 'value', as: endName, field: 'finishedAt' }] };
    const [node] = await context.read((unit) =>
      unit.data.answers.singleStatementNodes([withEnd], [this.#id], [module.topic]),
    );
    if (!node) throw missingRecord(this.#module, this.#id);
    return node.record;
  }
}
