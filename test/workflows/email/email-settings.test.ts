import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newId } from '#entities/kit/base/ids.ts';
import { unfolded, waitForMails } from '../../kit/mailbox.ts';
import { shows } from '../../kit/shows.ts';
import { openWorld, type Instance, type World } from '../../kit/world.ts';

const settings = {
  FROMEMAIL: 'from-setting@example.com',
  SUPPORTEMAIL: 'support-setting@example.com',
  COMPANYNAME: 'Company Setting',
  TROUBLETEXT: 'Trouble with {ACTION}? Setting.',
  APIURL: 'https://apiurl-setting.test',
};

async function mailOf(world: World, instance: Pick<Instance, 'client'>, mailFolder: string): Promise<string> {
  const email = `settings-${newId().toLowerCase()}@example.com`;
  await instance.client().post('/v1/register', { email, password: 'correct horse battery' });
  const [mail = ''] = await waitForMails({ ...world, mailFolder }, email);
  return unfolded(mail);
}

test('sender, company, texts, links and folder are those of integrations.email', async () => {
  shows(
    'integrations.email.testdir',
    'integrations.email.fromemail',
    'integrations.email.supportemail',
    'integrations.email.apiurl',
    'integrations.email.CompanyName',
    'integrations.email.TroubleText',
  );
  const world = await openWorld();
  const otherFolder = join(world.mailFolder, '..', 'other-email');
  await mkdir(otherFolder, { recursive: true });
  const usual = await world.startWorker();
  const before = await mailOf(world, world, world.mailFolder);
  await usual.stop();

  const environment = Object.fromEntries(
    Object.entries({ ...settings, TESTDIR: otherFolder }).map(([name, value]) => [
      `CORE_INTEGRATIONS_EMAIL_${name}`,
      value,
    ]),
  );
  const instance = await world.openInstance({ environment });
  const worker = await instance.startWorker();
  const after = await mailOf(world, instance, otherFolder);
  await worker.stop();
  expect(await readdir(otherFolder)).toHaveLength(1);

  const shown = [
    'From: from-setting@example.com',
    'Questions? Write to support-setting@example.com.',
    'Company Setting',
    'Trouble with Confirm the address? Setting.',
    'https://apiurl-setting.test/v1/verify#token',
  ];
  for (const text of shown) {
    expect(after).toContain(text);
    expect(before).not.toContain(text);
  }
  await world.close();
});
