import { httpUrl } from '../schema/format.ts';
import { paymentKeyMode } from './payment-key.ts';
import { howToSet, requireTexts, type Rule } from './rule.ts';

const storageRule: Rule = ({ objectstorage }, refuse) => {
  if (!objectstorage.enabled || objectstorage.devmode) return;
  const { providers } = objectstorage;
  for (const [name, provider] of Object.entries(providers)) {
    const base = `objectstorage.providers.${name}`;
    const also = [`${base}.enabled`, 'objectstorage.enabled', 'objectstorage.devmode'];
    const { backup } = provider;
    if (provider.enabled && name !== 'database') {
      requireTexts(refuse, `${base}.enabled is on`, base, { bucket: provider.bucket }, also);
    }
    if (backup.readfrombackup && !backup.enabled) {
      refuse(`${base}.backup.readfrombackup`, 'is on, but there is no backup', `turn on ${base}.backup.enabled`, [
        `${base}.backup.enabled`,
      ]);
    }
    if (!provider.enabled || !backup.enabled || backup.provider === '') continue;
    const backupAlso = [...also, `${base}.backup.enabled`, `${base}.backup.provider`];
    if (backup.provider === name) {
      refuse(
        `${base}.backup.provider`,
        'is the provider itself',
        'leave it empty to copy into a bucket beside the live one',
        backupAlso,
      );
    } else if (backup.provider !== 'database') {
      const { bucket } = providers[backup.provider];
      requireTexts(
        refuse,
        `${base} stores its copies there`,
        `objectstorage.providers.${backup.provider}`,
        { bucket },
        backupAlso,
      );
    }
  }
  const { bucketstore, edgestore } = providers;
  for (const [name, { enabled, credentials }] of Object.entries({ bucketstore, edgestore })) {
    const { accesskeyid, secretaccesskey } = credentials;
    if (!enabled || (accesskeyid === '') === (secretaccesskey === '')) continue;
    const base = `objectstorage.providers.${name}.credentials`;
    requireTexts(refuse, 'the other half of the credentials is set', base, { accesskeyid, secretaccesskey });
  }
  if (edgestore.enabled && edgestore.endpoint === '') {
    const { accountid } = edgestore.credentials;
    requireTexts(refuse, 'edgestore is enabled without an endpoint', 'objectstorage.providers.edgestore.credentials', {
      accountid,
    });
  }
};

const paymentRule: Rule = ({ subscription, ormconfig }, refuse) => {
  const { paymentwebhookapiversion: accepted, paymentwebhookdiscardapiversion: discarded } = subscription;
  if (accepted !== '' && accepted === discarded) {
    refuse(
      'subscription.paymentwebhookdiscardapiversion',
      'is the version that subscription.paymentwebhookapiversion accepts',
      'name the old version, or leave it empty',
      ['subscription.paymentwebhookapiversion'],
    );
  }
  if (ormconfig.billing.requirepaymentmethod && !subscription.enabled) {
    refuse(
      'ormconfig.billing.requirepaymentmethod',
      'is on, but without subscription.enabled no organization can have a payment method',
      'turn on subscription.enabled, or turn this off',
      ['subscription.enabled'],
    );
  }
  if (!subscription.enabled) return;
  const also = ['subscription.enabled'];
  requireTexts(
    refuse,
    'subscription.enabled is on',
    'subscription',
    {
      privatepaymentkey: subscription.privatepaymentkey,
      paymentbillingportalsuccessurl: subscription.paymentbillingportalsuccessurl,
      paymentcancellationreturnurl: subscription.paymentcancellationreturnurl,
    },
    also,
  );
  if (paymentKeyMode(subscription.privatepaymentkey) === 'live' && ormconfig.modules.usesandbox) {
    refuse(
      'subscription.privatepaymentkey',
      'is a live key, but ormconfig.modules.usesandbox is on',
      'use a key of the sandbox, or turn ormconfig.modules.usesandbox off',
      [...also, 'ormconfig.modules.usesandbox'],
    );
  }
  const secrets = subscription.paymentwebhooksecrets;
  if (accepted !== '' && !Object.hasOwn(secrets, accepted) && subscription.paymentwebhooksecret === '') {
    refuse(
      'subscription.paymentwebhooksecrets',
      `has no secret for the accepted version ${accepted}`,
      'add an entry with exactly this key',
      [...also, 'subscription.paymentwebhookapiversion', 'subscription.paymentwebhooksecret'],
    );
  }
};

const lifecycleRule: Rule = ({ integrations, subscription }, refuse) => {
  if (subscription.enabled) return;
  const { paymentreminder, organizationdelete } = integrations;
  for (const [name, { enabled }] of Object.entries({ paymentreminder, organizationdelete }))
    if (enabled)
      refuse(
        `integrations.${name}.enabled`,
        'is on, but without subscription.enabled nobody could pay for an organization, and all would be deleted',
        'turn on subscription.enabled, or turn this off',
        ['subscription.enabled'],
      );
};

const emailRule: Rule = ({ server, auth, integrations: { email } }, refuse) => {
  if (email.apiurl === '' && auth.token.issuer !== '' && httpUrl.check(auth.token.issuer) !== undefined) {
    refuse(
      'integrations.email.apiurl',
      `is not set, and auth.token.issuer is not ${httpUrl.name} that it could be taken from`,
      howToSet('integrations.email.apiurl'),
      ['auth.token.issuer'],
    );
  }
  if (email.provider === '') return;
  const base = 'integrations.email';
  const why = `${base}.provider is ${email.provider}`;
  const also = [`${base}.provider`];
  requireTexts(refuse, why, base, { fromemail: email.fromemail }, also);
  if (server.dev && email.testdir !== '') return;
  const { apikey } = email.providera;
  const { servertoken } = email.providerb;
  const needed: Record<string, string> = email.provider === 'providera' ? { apikey } : { servertoken };
  requireTexts(refuse, why, `${base}.${email.provider}`, needed, [...also, 'server.dev', `${base}.testdir`]);
};

const clientRule: Rule = ({ integrations }, refuse) => {
  const { chat, clouddrive, officesuite, directoryservice, teamchat, personaldrive, oidclocal } = integrations;
  const clients = { chat, clouddrive, officesuite, directoryservice, teamchat, personaldrive };
  for (const [name, { clientid, clientsecret, redirecturl }] of Object.entries(clients)) {
    if (clientid === '') continue;
    const base = `integrations.${name}`;
    requireTexts(refuse, `${base}.clientid is set`, base, { clientsecret, redirecturl }, [`${base}.clientid`]);
  }
  if (oidclocal.enabled) {
    const { clientid, clientsecret, discoveryurl, redirecturl } = oidclocal;
    const base = 'integrations.oidclocal';
    requireTexts(refuse, `${base}.enabled is on`, base, { clientid, clientsecret, discoveryurl, redirecturl }, [
      `${base}.enabled`,
    ]);
  }
  const { appid, privatekey, appslug } = integrations.codehostapp;
  if (appid !== '')
    requireTexts(refuse, 'integrations.codehostapp.appid is set', 'integrations.codehostapp', { privatekey, appslug }, [
      'integrations.codehostapp.appid',
    ]);
  const { accesskeyid, secretaccesskey } = integrations.cloudsecurityhub;
  if (accesskeyid !== '') {
    requireTexts(
      refuse,
      'integrations.cloudsecurityhub.accesskeyid is set',
      'integrations.cloudsecurityhub',
      { secretaccesskey },
      ['integrations.cloudsecurityhub.accesskeyid'],
    );
  }
};

const edgeRule: Rule = ({ edge, shortlinks }, refuse) => {
  if (edge.enabled) {
    const { apitoken, accountid } = edge;
    requireTexts(refuse, 'edge.enabled is on', 'edge', { apitoken, accountid }, ['edge.enabled']);
  }
  if (!shortlinks.enabled) return;
  const also = ['shortlinks.enabled'];
  requireTexts(refuse, 'shortlinks.enabled is on', 'shortlinks', { endpointurl: shortlinks.endpointurl }, also);
  const clientid = shortlinks.clientid === '' ? edge.clientid : shortlinks.clientid;
  const clientsecret = shortlinks.clientsecret === '' ? edge.clientsecret : shortlinks.clientsecret;
  requireTexts(refuse, 'shortlinks.enabled is on and edge has none', 'shortlinks', { clientid, clientsecret }, also);
};

/** Requirements between fields of the objects that configure other services. */
export const integrationRules: readonly Rule[] = [
  storageRule,
  paymentRule,
  lifecycleRule,
  emailRule,
  clientRule,
  edgeRule,
];
