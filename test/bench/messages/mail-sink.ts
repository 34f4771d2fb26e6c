import { FakeProviderA } from '../../kit/fakes/fake-provider-a.ts';

/** A provider of e-mails in a process of its own. It is asked how many mails it has accepted, and by how many requests. */
const provider = await FakeProviderA.start();

process.on('message', () => {
  const recipients = new Set(provider.accepted.flatMap(({ to }) => to));
  process.send?.({ mails: provider.accepted.length, people: recipients.size, requests: provider.requests.length });
});
process.send?.({ url: provider.url, apiKey: provider.apiKey });
