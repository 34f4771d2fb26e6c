import { email } from './email.ts';
import { flag, integer, list, object, secret, text } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

/** OAuth client fields that most integrations share. */
function oauthClient(name: string) {
  return {
    clientid: text({ description: `Client id of the ${name} app. Empty: the integration is not offered.` }),
    clientsecret: secret({ description: `Client secret of the ${name} app.` }),
    redirecturl: text({
      description: `Callback registered with the ${name} app.`,
      format: httpUrl,
      fromDomain: (domain) => `https://api.${domain}/v1/integrations/auth/callback`,
    }),
  };
}

const applicationid = (name: string) => text({ description: `Application id of the ${name} app.` });

const cloudsecurityhub = object('Findings of the cloud security hub.', {
  accesskeyid: text({
    description: 'Access key id of the operator-owned account. Empty: the integration is not offered.',
  }),
  secretaccesskey: secret({ description: 'Secret access key of that account.' }),
  arn: text({ description: 'Resource name of the identity that assumes the roles of customers.' }),
});

const edgeruntime = object('The edge platform, run with an operator-owned account.', {
  apitoken: secret({ description: 'API token. Empty: no domain scans.' }),
  accountid: text({ description: 'Operator-owned account.' }),
  domainscan: object('Scans of the domains of organizations for the vendors they use.', {
    bulkscan: flag({ description: 'Scans all domains of a run in one call.' }),
    nonvendorcategories: list({
      description: 'Findings of these categories are not vendors.',
      items: text({ description: 'A category.', maxLength: 200 }),
      default: ['Miscellaneous', 'JavaScript frameworks', 'JavaScript libraries', 'Static site generator'],
    }),
    deniedvendornames: list({
      description: 'Findings with these names are not vendors.',
      items: text({ description: 'A name.', maxLength: 200 }),
    }),
    scanttl: integer({
      description: 'How long the result of a scan is used again.',
      unit: 'seconds',
      default: 86_400,
      minimum: 60,
      maximum: 2_592_000,
    }),
  }),
});

const codehostapp = object('App at the code host.', {
  appid: text({ description: 'Id of the app. Empty: the integration is not offered.' }),
  privatekey: secret({ description: 'Private key of the app, as PEM text.' }),
  webhooksecret: secret({ description: 'Signing secret of its webhooks; without it they are refused.' }),
  appslug: text({ description: 'Short name of the app in its installation URL.' }),
});

const chatruntime = object('Messages of the system to the workspace of the operator.', {
  webhookURL: text({
    description: 'Incoming webhook for system notifications; failures are logged and forgotten.',
    format: httpUrl,
    secret: 'value',
  }),
  botToken: secret({ description: 'Bot token of the platform workspace.' }),
  defaultChannel: text({ description: 'Id of the channel of system messages.' }),
});

const oidclocal = object('An OpenID Connect provider on this machine, for development.', {
  enabled: flag({ description: 'Offers the provider.' }),
  clientid: text({ description: 'Client id.' }),
  clientsecret: secret({ description: 'Client secret.' }),
  discoveryurl: text({
    description: 'URL of the provider, below which its discovery document is found.',
    format: httpUrl,
  }),
  redirecturl: text({ description: 'Callback registered with the provider.', format: httpUrl }),
});

/** `integrations` (specification: Integrations; Organization lifecycle jobs; Integration lifecycle sweep). */
export const integrations = object('Third-party integrations and scheduled system jobs.', {
  consoleintegrationpath: text({
    description:
      'Page of the user interface, below ormconfig.notifications.consoleurl, that the browser returns to after connecting an integration.',
    default: '/organization-settings/integrations',
  }),
  cloudsecurityhub,
  edgeruntime,
  codehostapp,
  chat: object('Chat app of customers.', {
    ...oauthClient('chat'),
    appid: text({ description: 'Id of the chat app.' }),
  }),
  chatruntime,
  clouddrive: object('Cloud drive.', oauthClient('cloud drive')),
  officesuite: object('Office suite.', oauthClient('office suite')),
  directoryservice: object('Directory service.', {
    ...oauthClient('directory service'),
    defaulttenant: text({ description: 'Tenant used when the customer names none.' }),
    applicationid: applicationid('directory service'),
  }),
  teamchat: object('Team chat.', { ...oauthClient('team chat'), applicationid: applicationid('team chat') }),
  personaldrive: object('Personal drive.', {
    ...oauthClient('personal drive'),
    contentmode: text({
      description: 'How documents are shown: inside the page, or as a link to the drive.',
      values: ['iframe', 'link'],
      default: 'iframe',
    }),
    applicationid: applicationid('personal drive'),
  }),
  oidclocal,
  email,
  paymentreminder: object('Scheduled reminder of organizations without a payment method.', {
    paymentmethodinterval: integer({
      description: 'Age of an organization without payment from which it is marked for deletion.',
      unit: 'days',
      default: 30,
      minimum: 1,
      maximum: 3650,
    }),
    deletiondays: integer({
      description: 'From marking to deletion.',
      unit: 'days',
      default: 7,
      minimum: 1,
      maximum: 3650,
    }),
    enabled: flag({ description: 'Runs the reminder.' }),
    dryrun: flag({ description: 'Only logs the ids of the organizations that would be marked.', default: true }),
  }),
  organizationdelete: object('Scheduled deletion of organizations that were marked long enough ago.', {
    maxdeletesperrun: integer({
      description: 'Most organizations deleted in one run.',
      unit: 'organizations',
      default: 25,
      minimum: 1,
      maximum: 10_000,
    }),
    enabled: flag({ description: 'Runs the deletion.' }),
  }),
  integrationlifecycle: object('Scheduled sweep over the state of integrations.', {
    enabled: flag({ description: 'Runs the sweep.', default: true }),
    dryrun: flag({ description: 'Only logs the ids and the actions that would be dispatched.', default: true }),
    maxperrun: integer({
      description: 'Most integrations looked at in one run.',
      unit: 'integrations',
      default: 100,
      minimum: 1,
      maximum: 10_000,
    }),
  }),
});
