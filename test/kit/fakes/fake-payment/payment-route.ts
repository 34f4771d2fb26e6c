import type { FakeAnswer } from '../http-fake.ts';
import { textOf, type Form } from './form-body.ts';
import type { PaymentObjects } from './payment-objects.ts';

/** A request as its route sees it. */
export interface RouteContext {
  readonly form: Form;
  readonly objects: PaymentObjects;
  /** The id in the path. */
  readonly id: string;
}

export interface PaymentRoute {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: RegExp;
  /** Parameters that it takes; others are refused. */
  readonly takes: readonly string[];
  readonly handle: (context: RouteContext) => object;
}

interface ProviderError {
  readonly type?: string;
  readonly code?: string;
  readonly message: string;
  readonly param?: string;
}

/** An error as the provider writes it. */
export function problem(
  status: number,
  error: ProviderError,
  headers: Readonly<Record<string, string>> = {},
): FakeAnswer {
  return { status, body: { error: { type: 'invalid_request_error', ...error } }, headers };
}

/** Ends the handling of a request. */
export class Refusal extends Error {
  readonly answer: FakeAnswer;

  constructor(answer: FakeAnswer) {
    super('refused');
    this.answer = answer;
  }
}

export function refuse(status: number, error: ProviderError): never {
  throw new Refusal(problem(status, error));
}

/** A record by its id, which a request names. */
export function found<T>(records: ReadonlyMap<string, T>, id: string, what: string): T {
  const record = records.get(id);
  return record ?? refuse(404, { code: 'resource_missing', message: `No such ${what}: '${id}'`, param: 'id' });
}

/** Parameters of all lists. */
export const ofLists = ['limit', 'starting_after', 'expand'];

/** Which page a request wants. */
export function wantedPage(form: Form): { readonly limit: number; readonly startingAfter: string | undefined } {
  return { limit: Number(textOf(form, 'limit') ?? 10), startingAfter: textOf(form, 'starting_after') };
}
