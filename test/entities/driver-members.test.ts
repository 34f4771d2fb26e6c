import { Query, Pool, type PoolClient } from 'pg';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { destroyAfter, wireOf } from '#entities/kit/storage/connection.ts';
import { eventually } from '../kit/eventually.ts';

// What the driver does not declare and `entities/kit/storage` uses: its wire below the client, and the calls that a query receives.

let pool: Pool;
beforeAll(() => {
  const { postgresUrl, template } = inject('stack');
  pool = new Pool({ connectionString: postgresUrl.replace('DATABASE', template), max: 1, pipeline: true });
  pool.on('error', () => {});
});
afterAll(() => pool.end());

/** Notes which calls a query receives, in their order and with their first argument. */
class NotedQuery extends Query {
  readonly calls: [name: string, argument: unknown][] = [];
  readonly #send: (client: PoolClient) => void;
  readonly #client: PoolClient;

  constructor(client: PoolClient, send: (client: PoolClient) => void) {
    super('');
    this.#client = client;
    this.#send = send;
  }

  override submit = (connection: unknown): null => {
    this.calls.push(['submit', connection]);
    this.#send(this.#client);
    return null;
  };

  handleRowDescription = (message: unknown) => this.calls.push(['handleRowDescription', message]);
  handleDataRow = (message: unknown) => this.calls.push(['handleDataRow', message]);
  handleCommandComplete = (message: unknown) => this.calls.push(['handleCommandComplete', message]);
  handleEmptyQuery = (message: unknown) => this.calls.push(['handleEmptyQuery', message]);
  handleError = (error: unknown) => this.calls.push(['handleError', error]);
  handleReadyForQuery = (connection: unknown) => this.calls.push(['handleReadyForQuery', connection]);
}

/** Sends messages of the wire as one query. @returns the calls that it received */
async function callsOf(client: PoolClient, send: (wire: ReturnType<typeof wireOf>) => void) {
  const query = new NotedQuery(client, () => send(wireOf(client)));
  client.query(query);
  await eventually(() => query.calls.some(([name]) => /^handle(?:ReadyForQuery|Error)$/.test(name)));
  return query.calls;
}

async function connected(work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await work(client);
  } finally {
    client.release(true);
  }
}

const names = (calls: Awaited<ReturnType<typeof callsOf>>) => calls.map(([name]) => name);

test('messages of the wire are sent in their order, and a query receives the answers until the Sync', () =>
  connected(async (client) => {
    const calls = await callsOf(client, (wire) => {
      wire.stream.cork();
      wire.parse({ name: 's1', text: 'select $1::int as number, $2::bytea as bytes' });
      wire.bind({ statement: 's1', values: ['7', Buffer.from([1])] });
      wire.describe({ type: 'P' });
      wire.execute({});
      wire.parse({ name: '', text: '' });
      wire.bind({ statement: '', values: [] });
      wire.execute({});
      wire.close({ type: 'S', name: 's1' });
      wire.sync();
      wire.stream.uncork();
    });
    expect(names(calls)).toEqual([
      'submit',
      'handleRowDescription',
      'handleDataRow',
      'handleCommandComplete',
      'handleEmptyQuery',
      'handleReadyForQuery',
    ]);
    expect(calls).toMatchObject([
      ['submit', wireOf(client)],
      [
        'handleRowDescription',
        {
          fields: [
            { name: 'number', dataTypeID: 23 },
            { name: 'bytes', dataTypeID: 17 },
          ],
        },
      ],
      ['handleDataRow', { fields: ['7', '\\x01'] }],
      ['handleCommandComplete', { text: 'SELECT 1' }],
      ['handleEmptyQuery', {}],
      ['handleReadyForQuery', {}],
    ]);
    expect(client.getTypeParser(23, 'text')('7')).toBe(7);
    const closed = await callsOf(client, (wire) => {
      wire.bind({ statement: 's1', values: ['7', null] });
      wire.execute({});
      wire.sync();
    });
    // After an error it receives nothing more.
    expect(closed).toMatchObject([
      ['submit', {}],
      ['handleError', { code: '26000', severity: 'ERROR' }],
    ]);
  }));

test('a query is sent while another one is under way', () =>
  connected(async (client) => {
    const send = (text: string) =>
      callsOf(client, (wire) => {
        wire.parse({ name: '', text });
        wire.bind({ statement: '', values: [] });
        wire.execute({});
        wire.sync();
      });
    const submitted: string[] = [];
    const first = send('select pg_sleep(0.2)').then((calls) => submitted.push(...names(calls)));
    const second = new NotedQuery(client, () => wireOf(client).sync());
    client.query(second);
    expect([names(second.calls), submitted]).toEqual([['submit'], []]);
    await first;
    await eventually(() => second.calls.length === 2);
    expect(names(second.calls)).toEqual(['submit', 'handleReadyForQuery']);
  }));

test('all queries of a connection whose socket is destroyed receive its error', () =>
  connected(async (client) => {
    client.on('error', () => {});
    const queries = [0, 1].map(() => new NotedQuery(client, () => {}));
    for (const query of queries) client.query(query);
    const limit = destroyAfter(client, Date.now() + 10);
    await eventually(() => queries.every(({ calls }) => calls.length === 2));
    expect(limit.isReached).toBe(true);
    for (const { calls } of queries)
      expect(calls).toMatchObject([
        ['submit', {}],
        ['handleError', expect.any(Error)],
      ]);
    const late = new NotedQuery(client, () => {});
    client.query(late);
    await eventually(() => late.calls.length === 1);
    expect(names(late.calls)).toEqual(['handleError']);
  }));
