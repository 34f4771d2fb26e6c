import type { ScimAnswer } from './scim-client.ts';
import type { ScimDocument, ScimModel } from './scim-model.ts';

/** A request, and its answer. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
  readonly ifMatch?: string;
  readonly status: number;
  readonly scimType?: string | undefined;
  /** The answered resource. */
  readonly resource?: (answer: ScimAnswer) => ScimDocument;
  /** The answered page. */
  readonly page?: { readonly total: number; readonly startIndex: number; readonly resources: readonly ScimDocument[] };
  /** Whether the resource gets another entity tag, where that is certain. */
  readonly isChanged?: boolean | undefined;
  readonly heldTag?: string;
}

/** A request that the model answers, too, and remembers. */
export type ScimRequest = (model: ScimModel) => Exchange;
