// Takes turns by the seed: npm test has some of these files, npm run prove has all.
import { Type } from 'typebox';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineRoute } from '#api/http/route.ts';
import { eventually } from '../../kit/eventually.ts';
import { parseAnswer, RawConnection } from '../../kit/http/raw-http.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type World } from '../../kit/world.ts';

/** Answers that were cut before they had left, by address. */
const cut = new Set<string>();

const asked = new Set<string>();

/** Far more than the buffers of both ends hold. */
const bigAnswer = defineRoute({
  method: 'GET',
  url: '/test/big',
  operationId: 'bigAnswer',
  tag: 'Test',
  summary: 'Big',
  description: 'Big.',
  access: 'public',
  query: Type.Object({ name: Type.String() }),
  answers: { 200: Type.String() },
  errors: [],
  handle: ({ query, reply }) => {
    asked.add(query['name'] as string);
    reply.raw.once('close', () => {
      if (!reply.raw.writableFinished) cut.add(query['name'] as string);
    });
    return { status: 200, body: 'x'.repeat(60_000_000) };
  },
});

/** The longest that are allowed for reading. */
const patient = {
  CORE_SERVER_READHEADERTIMEOUT: '600000',
  CORE_SERVER_READTIMEOUT: '3600000',
  CORE_SERVER_IDLETIMEOUT: '60000',
  CORE_SERVER_WRITETIMEOUT: '60000',
};

let world: World;
/** Waits for everything; what another server gives up on, this one still has. */
let patientUrl: string;

beforeAll(async () => {
  world = await openWorld({ environment: patient, routes: [bigAnswer] });
  patientUrl = (await world.listen()).url;
});
afterAll(() => world.close());

/** A server with one impatient setting. */
async function hurried(setting: keyof typeof patient, milliseconds: number): Promise<string> {
  const instance = await world.openInstance({ environment: { [setting]: String(milliseconds) } });
  return (await instance.listen()).url;
}

/** Says the same to both servers; the hurried one ends the connection while the patient one keeps it. */
async function endedByHurriedOnly(hurriedUrl: string, bytes: string): Promise<string> {
  const [hurriedConnection, patientConnection] = [hurriedUrl, patientUrl].map((url) => {
    const connection = new RawConnection(url);
    connection.write(bytes);
    return connection;
  }) as [RawConnection, RawConnection];
  const text = await hurriedConnection.untilClosed();
  expect(patientConnection.isOpen).toBe(true);
  patientConnection.end();
  return text;
}

describe('a request that does not come', () => {
  test('server.readheadertimeout ends a connection whose headers do not come to an end', async () => {
    shows('server.readheadertimeout');
    const url = await hurried('CORE_SERVER_READHEADERTIMEOUT', 200);
    const answer = parseAnswer(await endedByHurriedOnly(url, 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow:'));
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toMatchObject({
      code: 'request_timeout',
      request_id: answer.headers['x-request-id'],
    });
  });

  test('server.readheadertimeout ends a connection on which nothing is said', async () => {
    await endedByHurriedOnly(await hurried('CORE_SERVER_READHEADERTIMEOUT', 200), '');
  });

  test('server.readtimeout ends a request whose body does not come', async () => {
    const bytes = `POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\nAuthorization: Bearer x\r\n\r\n{"query"`;
    const url = await hurried('CORE_SERVER_READTIMEOUT', 300);
    // A refusal comes at once, without waiting for the body; the connection then is the sender's to use up.
    const text = await endedByHurriedOnly(url, bytes);
    expect(parseAnswer(text).status).toBe(401);
  });

  test('server.readtimeout answers 408 when it was the body that had to be waited for', async () => {
    shows('server.readtimeout');
    const url = await hurried('CORE_SERVER_READTIMEOUT', 300);
    const token = await csrfTokenOf(url);
    const bytes = `POST /v1/resend HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 500\r\nCookie: csrf_token=${token}\r\nX-Csrf-Token: ${token}\r\n\r\n{"email"`;
    const answer = parseAnswer(await endedByHurriedOnly(url, bytes));
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.body)).toMatchObject({ code: 'request_timeout' });
  });
});

test('server.idletimeout ends a connection that waits for its next request', async () => {
  shows('server.idletimeout');
  const url = await hurried('CORE_SERVER_IDLETIMEOUT', 200);
  const text = await endedByHurriedOnly(url, 'GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(parseAnswer(text).status).toBe(200);
});

test('server.writetimeout ends a connection whose client does not read the answer', async () => {
  shows('server.writetimeout');
  const hurriedUrl = await hurried('CORE_SERVER_WRITETIMEOUT', 200);
  const connections = Object.entries({ hurried: hurriedUrl, patient: patientUrl }).map(([name, url]) => {
    const connection = new RawConnection(url);
    connection.stopReading();
    connection.write(`GET /test/big?name=${name} HTTP/1.1\r\nHost: x\r\n\r\n`);
    return connection;
  });
  await eventually(() => cut.has('hurried'));
  expect(cut.has('patient')).toBe(false);
  for (const connection of connections) connection.end();
});

test('answers that clients do not read have a maximum size together', async () => {
  const names = ['oldest', 'middle', 'newest'];
  const connections = names.map(() => new RawConnection(patientUrl));
  for (const [index, connection] of connections.entries()) {
    connection.stopReading();
    // Two of them fit.
    connection.write(`GET /test/big?name=${names[index]} HTTP/1.1\r\nHost: x\r\n\r\n`);
    await eventually(() => asked.has(names[index] ?? ''));
  }
  const isCut = () => names.filter((name) => cut.has(name));
  await eventually(() => isCut().length > 0);
  expect(isCut()).toEqual(['oldest']);
  for (const connection of connections) connection.end();
});

test('timeouts change while the server runs', async () => {
  await world.reconfigure({ CORE_SERVER_IDLETIMEOUT: '200' });
  const connection = new RawConnection(patientUrl);
  connection.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(parseAnswer(await connection.untilClosed()).status).toBe(200);
  await world.reconfigure({ CORE_SERVER_IDLETIMEOUT: patient.CORE_SERVER_IDLETIMEOUT });
});

async function csrfTokenOf(url: string): Promise<string> {
  const answer = await fetch(`${url}/livez`);
  return /csrf_token=([^;]+)/.exec(answer.headers.get('set-cookie') ?? '')?.[1] ?? '';
}
