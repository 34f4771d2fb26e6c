import type { FakeAnswer, FakeRequest } from '../http-fake.ts';
import { customerRoutes } from './customer-routes.ts';
import { readForm } from './form-body.ts';
import type { PaymentCourse } from './payment-course.ts';
import type { PaymentLedger } from './payment-ledger.ts';
import { PaymentObjects } from './payment-objects.ts';
import { problem, refuse, Refusal, type PaymentRoute } from './payment-route.ts';
import { sessionRoutes } from './session-routes.ts';
import { subscriptionRoutes } from './subscription-routes.ts';

/** The part of the provider's API that the product uses. */
export class PaymentRoutes {
  readonly #ledger: PaymentLedger;
  readonly #routes: readonly PaymentRoute[];

  /** @param pages URL of the pages for checkout and portal */
  constructor(ledger: PaymentLedger, course: PaymentCourse, pages: () => string) {
    this.#ledger = ledger;
    this.#routes = [...customerRoutes(ledger), ...subscriptionRoutes(ledger, course), ...sessionRoutes(ledger, pages)];
  }

  /** Answers a request with a valid key, in the form of an API version. */
  answer({ method, path, query, body }: FakeRequest, version: string): FakeAnswer {
    const form = readForm(method === 'POST' ? new URLSearchParams(body) : query);
    try {
      for (const route of this.#routes) {
        const match = route.method === method ? route.path.exec(path) : null;
        if (!match) continue;
        const unknown = Object.keys(form).find((name) => !route.takes.includes(name));
        if (unknown !== undefined)
          refuse(400, { code: 'parameter_unknown', message: `Received unknown parameter: ${unknown}`, param: unknown });
        const id = decodeURIComponent(match[1] ?? '');
        return { status: 200, body: route.handle({ form, id, objects: new PaymentObjects(this.#ledger, version) }) };
      }
    } catch (error) {
      if (error instanceof Refusal) return error.answer;
      throw error;
    }
    return problem(404, { message: `Unrecognized request URL (${method}: ${path}).` });
  }
}
