/** Creates an endpoint over REST that wants all events of tasks. Nothing listens there: no worker runs where creates are measured. */
export async function createEndpoint(url: string, token: string): Promise<void> {
  const answer = await fetch(`${url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'sink', url: 'http://127.0.0.1:9/', topics: ['task.*'], scopes: ['task:read'] }),
  });
  if (answer.status !== 201) throw new Error(`no endpoint was created: ${answer.status} ${await answer.text()}`);
}
