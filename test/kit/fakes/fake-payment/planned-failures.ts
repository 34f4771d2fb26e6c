import type { Answering, FakeAnswer, FakeRequest } from '../http-fake.ts';
import { problem } from './payment-route.ts';

/**
 * Treatment of a request: `decline`, `missing`, `conflict` (another request with this key is under way), `limit` (with
 * Retry-After: 2): 402, 404, 409, 429, without an effect. `fail`: 500; it and the 402 are
 * recorded under the key, without an effect. `page`, `foreign`: 200 and a page, or
 * other JSON, of something in between. `silent`: no answer, `cut`: the connection is
 * closed; both without an effect. `done-then-fail`, `done-then-silent`, `done-then-cut`: the same after the effect. `half`: the answer
 * breaks off, after the effect.
 */
export type PaymentBehaviour =
  | 'decline'
  | 'missing'
  | 'conflict'
  | 'limit'
  | 'fail'
  | 'page'
  | 'foreign'
  | 'silent'
  | 'cut'
  | 'half'
  | `done-then-${'fail' | 'silent' | 'cut'}`;

/** Which requests: all, unless it says more. */
export interface Which {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Beginning of the path, such as `/v1/customers`. */
  readonly path?: string;
  /** How many of them; default 1. */
  readonly times?: number;
}

interface Plan extends Which {
  readonly behaviour: PaymentBehaviour;
  left: number;
}

interface Recorded {
  readonly request: string;
  readonly answer: FakeAnswer;
  readonly at: number;
}

/** Time for which the provider keeps answers to keys. */
const keptMs = 86_400_000;

const declined = problem(402, { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' });

const failed = problem(500, { type: 'api_error', message: 'Something went wrong on our end.' });

const withoutEffect: Readonly<Partial<Record<PaymentBehaviour, Answering>>> = {
  missing: problem(404, { code: 'resource_missing', message: 'No such object.' }),
  conflict: problem(409, {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: 'There is currently another in-progress request using this key.',
  }),
  limit: problem(429, { code: 'rate_limit', message: 'Too many requests.' }, { 'retry-after': '2' }),
  fail: failed,
  page: {
    status: 200,
    body: null,
    text: '<html>Sign in to the network</html>',
    headers: { 'content-type': 'text/html' },
  },
  foreign: { status: 200, body: { status: 'Sign in to the network' } },
  silent: 'silent',
  cut: 'cut',
};

/** Failures that a test has planned, and the answers that were recorded under idempotency keys. */
export class PlannedFailures {
  readonly #plans: Plan[] = [];
  readonly #recorded = new Map<string, Recorded>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  plan(behaviour: PaymentBehaviour, which: Which): void {
    this.#plans.push({ ...which, behaviour, left: which.times ?? 1 });
  }

  clear(): void {
    this.#plans.length = 0;
  }

  /** Answers a request: as recorded, as planned, else with `work`. */
  answer(request: FakeRequest, work: () => FakeAnswer): Answering {
    const header = request.headers['idempotency-key'];
    const key = request.method === 'POST' && typeof header === 'string' ? header : undefined;
    const text = `${request.path}?${request.body}`;
    const recorded = key === undefined ? undefined : this.#recorded.get(key);
    if (recorded && this.#now() - recorded.at < keptMs) {
      if (recorded.request !== text)
        return problem(400, {
          type: 'idempotency_error',
          message: 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
        });
      return { ...recorded.answer, headers: { ...recorded.answer.headers, 'idempotent-replayed': 'true' } };
    }
    const behaviour = this.#next(request);
    const keep = (answer: FakeAnswer): FakeAnswer => {
      // The provider does not record what it has refused before it began.
      const isKept = key !== undefined && ![400, 401, 404, 409, 429].includes(answer.status);
      if (isKept) this.#recorded.set(key, { request: text, answer, at: this.#now() });
      return answer;
    };
    if (behaviour === undefined) return keep(work());
    if (behaviour === 'decline') return keep(declined);
    if (behaviour === 'fail') return keep(failed);
    const planned = withoutEffect[behaviour];
    if (planned !== undefined) return planned;
    const answer = work();
    if (behaviour === 'done-then-fail') return keep(failed);
    keep(answer);
    if (behaviour === 'half') return { ...answer, isHalf: true as const };
    return behaviour === 'done-then-cut' ? 'cut' : 'silent';
  }

  #next({ method, path }: FakeRequest): PaymentBehaviour | undefined {
    const plan = this.#plans.find(
      (one) => one.left > 0 && (one.method ?? method) === method && path.startsWith(one.path ?? '/'),
    );
    if (plan) plan.left -= 1;
    return plan?.behaviour;
  }
}
