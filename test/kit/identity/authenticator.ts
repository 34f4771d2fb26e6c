import { generate } from 'otplib';
import { expect } from 'vitest';
import type { TestAnswer, TestClient } from '../test-client.ts';
import type { World } from '../world.ts';

/** An authenticator app, which shows codes by the clock of the world. */
export class Authenticator {
  readonly #world: World;
  readonly secret: string;
  readonly digits: 6 | 7 | 8;

  constructor(world: World, secret: string, digits: 6 | 7 | 8 = 6) {
    this.#world = world;
    this.secret = secret;
    this.digits = digits;
  }

  /** @param steps from the current time step, of 30 seconds each */
  code(steps = 0): Promise<string> {
    const epoch = Math.floor(this.#world.clock.now().getTime() / 1_000) + steps * 30;
    return generate({ secret: this.secret, digits: this.digits, epoch });
  }

  /** A code that no earlier request has used. */
  nextCode(): Promise<string> {
    this.#world.clock.advance(30_000);
    return this.code();
  }

  /** A code that is wrong for all steps around now. */
  async wrongCode(): Promise<string> {
    const right = await Promise.all([-2, -1, 0, 1, 2].map((steps) => this.code(steps)));
    return ['000000', '111111', '222222', '333333', '444444', '555555']
      .map((code) => code.padEnd(this.digits, code))
      .find((code) => !right.includes(code)) as string;
  }
}

/** Sets up and confirms an authenticator app for a signed-in person. */
export async function enroll(
  world: World,
  client: TestClient,
): Promise<{ readonly app: Authenticator; readonly recoveryCodes: string[]; readonly answer: TestAnswer }> {
  const setUp = await client.post('/v1/2fa/setup');
  expect(setUp.status, JSON.stringify(setUp.body)).toBe(200);
  const app = new Authenticator(world, setUp.body.secret, world.config.current.totp.codelength as 6);
  const confirmed = await client.post('/v1/2fa/confirm', { code: await app.code() });
  expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200);
  return { app, recoveryCodes: confirmed.body.recovery_codes, answer: confirmed };
}
