// Left to npm run prove; npm test has test/whole/browser.test.ts.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Browser } from '../kit/http/browser.ts';
import { eventually } from '../kit/eventually.ts';
import { buildPerson, signedIn, testPassword } from '../kit/people.ts';
import { openWorld, type World } from '../kit/world.ts';

let world: World;
let browser: Browser | string;
let origin: string;

beforeAll(async () => {
  browser = await Browser.start();
  if (typeof browser === 'string') return;
  world = await openWorld({ environment: { CORE_SERVER_ENABLEGRAPHSUBSCRIPTIONS: 'true' } });
  const { url } = await world.listen();
  origin = `http://localhost:${new URL(url).port}`;
});
afterAll(async () => {
  if (typeof browser !== 'string') await browser.close();
  await world?.close();
});

test('GraphiQL runs a subscription and sees a change that was made elsewhere', async (context) => {
  const page = typeof browser === 'string' ? context.skip(browser) : browser;
  const person = await buildPerson(world);
  await page.open(`${origin}/livez`);
  const login = { username: person.user.email, password: testPassword };
  const status = await page.evaluate(`(async () => {
    const token = decodeURIComponent(/csrf_token=([^;]+)/.exec(document.cookie)[1]);
    const headers = { 'content-type': 'application/json', 'x-csrf-token': token };
    return (await fetch('/v1/login', { method: 'POST', headers, body: JSON.stringify(${JSON.stringify(login)}) })).status;
  })()`);
  expect(status).toBe(200);

  const query = 'subscription { recordChanged(kinds: [TASK]) { operation record { ... on Task { title } } } }';
  await page.open(`${origin}/graphql?${new URLSearchParams({ query })}`);
  await eventually(() => page.evaluate(`document.querySelector('.graphiql-execute-button') !== null`));
  await page.evaluate(`document.querySelector('.graphiql-execute-button').click()`);
  const shown = async () => String(await page.evaluate(`document.querySelector('.graphiql-response').textContent`));
  await eventually(async () => (await shown()).includes('POSITION'));
  const client = await signedIn(world, person);
  await client.post('/v1/tasks', { title: 'made-elsewhere' });
  await eventually(async () => (await shown()).includes('made-elsewhere'));

  // A page of the server itself may also open a websocket with its cookies.
  const told = await page.evaluate(`new Promise((resolve, reject) => {
    const socket = new WebSocket(location.origin.replace('http', 'ws') + '/graphql', 'graphql-transport-ws');
    socket.onerror = () => reject(new Error('refused'));
    socket.onopen = () => socket.send(JSON.stringify({ type: 'connection_init' }));
    socket.onmessage = ({ data }) => {
      const { type, payload } = JSON.parse(data);
      if (type === 'connection_ack') socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: ${JSON.stringify(query)} } }));
      else resolve(payload.data.recordChanged.operation);
    };
  })`);
  expect(told).toBe('POSITION');
});
