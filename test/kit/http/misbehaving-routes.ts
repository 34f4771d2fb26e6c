import { Type } from 'typebox';
import { giveCookie } from '#api/http/plugins/cookies.ts';
import { defineRoute, type Route } from '#api/http/route.ts';
import { organization } from '#entities/index.ts';
import { AppError } from '#entities/kit/base/errors.ts';

const outcomes = ['answer', 'refuse', 'break', 'return-409', 'return-500', 'unserializable', 'kill', 'twice'] as const;

export type Outcome = (typeof outcomes)[number];

/** Point at which handlers wait until a test opens it. */
export class Gate {
  readonly #waiting: (() => void)[] = [];
  #isOpen = false;

  /** Handlers that stand here. */
  get waiting(): number {
    return this.#waiting.length;
  }

  pass(): Promise<void> {
    if (this.#isOpen) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  open(): void {
    this.#isOpen = true;
    for (const go of this.#waiting.splice(0)) go();
  }
}

/**
 * POST /test/organizations makes an organization, hands out a credential cookie, records something outside of the request, and
 * then ends in the way the body asks for.
 */
export function organizationRoute(kill: (pid: number) => Promise<void> = async () => {}): Route {
  return defineRoute({
    method: 'POST',
    url: '/test/organizations',
    operationId: 'organizationRoute',
    tag: 'Test',
    summary: 'Makes an organization',
    description: 'And then ends as the request demands.',
    access: 'public',
    body: Type.Object(
      { name: Type.String({ maxLength: 100 }), outcome: Type.Union(outcomes.map((outcome) => Type.Literal(outcome))) },
      { additionalProperties: false },
    ),
    answers: { 200: Type.Object({ id: Type.String() }) },
    errors: [],
    handle: async ({ body: { name, outcome }, unit, request }) => {
      unit.recordOutsideRequest('refused', async (outside) => {
        await outside.data.create(organization, { name: `${name}-refused` });
      });
      const data = unit.data.privileged('test');
      const founderId = 'founder';
      const made = await data.create(organization, { name, founderId });
      // Written, not only planned.
      await unit.flush();
      giveCookie(request, 'credential', 'secret', { path: '/' });
      switch (outcome) {
        case 'refuse':
          throw new AppError('permission_denied', 'Refused.');
        case 'break':
          throw new Error('an internal text');
        case 'return-409':
          return { status: 409, body: { id: made.id } };
        case 'return-500':
          return { status: 500, body: { id: made.id } };
        case 'unserializable':
          return { status: 200, body: { nothing: 'that the answer needs' } };
        case 'twice':
          await data.create(organization, { name, founderId });
          return { status: 200, body: { id: made.id } };
        case 'kill': {
          const session = await unit.readAs('system');
          const { rows } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
          await kill(rows[0]?.pid ?? 0);
          return { status: 200, body: { id: made.id } };
        }
        case 'answer':
          return { status: 200, body: { id: made.id } };
        default:
          outcome satisfies never;
          throw new Error('unknown outcome');
      }
    },
  });
}
