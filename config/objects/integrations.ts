import { emailRuntime } from './email-runtime.ts';
import { flag, integer, list, object, secret, text } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

/** OAuth client fields that most integrations share. */
function oauthClient(name: string) {
  return {
    clientid: text({ description: `Client id of the ${name} app. When empty, the integration is not offered.` }),
    clientsecret: secret({ description: `Client secret of the ${name} app.` }),
    redirecturl: text({
      description: `Callback URL that is registered with the ${name} app.`,
      format: httpUrl,
      fromDomain: (domain) => `https://api.${domain}/v1/integrations/auth/callback`,
    }),
  };
}

const applicationid = (name: string) =>
  text({
    description: `Application id of the ${name} app, which /.well-known/microsoft-identity-association.json names to prove the domain of the server as that of its publisher.`,
  });

const cloudsecurityhub = object('Import of findings from the cloud security hub.', {
  accesskeyid: text({
    description: 'Access key id of the account of the operator. When empty, the integration is not offered.',
  }),
  secretaccesskey: secret({ description: 'Secret access key of the account of the operator.' }),
  arn: text({ description: 'Resource name (ARN) of the identity that assumes the roles of customers.' }),
});

const edgeruntime = object('Access to the edge platform with an account of the operator.', {
  apitoken: secret({ description: 'API token. When empty, no domains are scanned.' }),
  accountid: text({ description: 'Id of the account of the operator.' }),
  domainscan: object('Scans of the domains of each organization, which find its vendors.', {
    bulkscan: flag({ description: 'Scans all domains of a run with one API call.' }),
    nonvendorcategories: list({
      description: 'Categories of findings that are not vendors.',
      items: text({ description: 'Name of a category.', maxLength: 200 }),
      default: ['Miscellaneous', 'JavaScript frameworks', 'JavaScript libraries', 'Static site generator'],
    }),
    deniedvendornames: list({
      description: 'Names of findings that are not vendors.',
      items: text({ description: 'Name of a finding.', maxLength: 200 }),
    }),
    scanttl: integer({
      description: 'Time for which the result of a scan is reused.',
      unit: 'seconds',
      default: 86_400,
      minimum: 60,
      maximum: 2_592_000,
    }),
  }),
});

const codehostapp = object('App at the code hosting service.', {
  appid: text({ description: 'Id of the app. When empty, the integration is not offered.' }),
  privatekey: secret({ description: 'Private key of the app, as PEM text.' }),
  webhooksecret: secret({
    description: 'Secret with which the app signs the events that it reports. When empty, its events are rejected.',
  }),
  appslug: text({ description: 'Name of the app in its installation URL (slug).' }),
});

const chatruntime = object(
  'System messages to the chat workspace of the operator. A message is sent once; one that may have arrived is not sent again.',
  {
    webhookURL: text({
      description:
        'URL of the incoming webhook for system messages (new user, operator needed). Used unless botToken and defaultChannel are set.',
      format: httpUrl,
      secret: 'value',
    }),
    botToken: secret({
      description: 'Bot token of the workspace of the operator. With defaultChannel, it posts system messages.',
    }),
    defaultChannel: text({ description: 'Id of the channel in which the bot posts system messages.' }),
  },
);

const oidclocal = object('A local OpenID Connect provider, for development.', {
  enabled: flag({ description: 'Offers the integration.' }),
  clientid: text({ description: 'Client id at the provider.' }),
  clientsecret: secret({ description: 'Client secret at the provider.' }),
  discoveryurl: text({
    description: 'Base URL of the provider. Its discovery document is below this URL.',
    format: httpUrl,
  }),
  redirecturl: text({ description: 'Callback URL that is registered with the provider.', format: httpUrl }),
});

/** `integrations`. */
export const integrations = object('Integrations with third-party services, and scheduled system jobs.', {
  consoleintegrationpath: text({
    description:
      'Path, below ormconfig.notifications.consoleurl, of the page to which the browser returns after an integration was connected.',
    default: '/organization-settings/integrations',
  }),
  cloudsecurityhub,
  edgeruntime,
  codehostapp,
  chat: object('Integration with the chat workspaces of customers.', {
    ...oauthClient('chat'),
    appid: text({ description: 'Id of the chat app.' }),
  }),
  chatruntime,
  clouddrive: object('Integration with the cloud drive.', oauthClient('cloud drive')),
  officesuite: object('Integration with the office suite.', oauthClient('office suite')),
  directoryservice: object('Integration with the directory service.', {
    ...oauthClient('directory service'),
    defaulttenant: text({ description: 'Tenant that is used when the customer names none.' }),
    applicationid: applicationid('directory service'),
  }),
  teamchat: object('Integration with the team chat.', {
    ...oauthClient('team chat'),
    applicationid: applicationid('team chat'),
  }),
  personaldrive: object('Integration with the personal drive.', {
    ...oauthClient('personal drive'),
    contentmode: text({
      description: 'How documents are shown: embedded in the page (`iframe`), or as a link to the drive (`link`).',
      values: ['iframe', 'link'],
      default: 'iframe',
    }),
    applicationid: applicationid('personal drive'),
  }),
  oidclocal,
  email: emailRuntime,
  paymentreminder: object(
    'Scheduled job that marks organizations for deletion for which nobody pays, and announces it to their people.',
    {
      paymentmethodinterval: integer({
        description:
          'Age from which an organization is marked for deletion that has neither a payment method nor an active subscription, a trial or a grant. Personal organizations are not marked, and those below another one follow it.',
        unit: 'days',
        default: 30,
        minimum: 1,
        maximum: 3650,
      }),
      deletiondays: integer({
        description:
          'Time between the mark and the deletion. A longer one applies at once, a shorter one to later marks: nobody is deleted before the day of which people were notified.',
        unit: 'days',
        default: 7,
        minimum: 1,
        maximum: 3650,
      }),
      enabled: flag({ description: 'Runs the job, every six hours. Requires subscription.enabled.' }),
      dryrun: flag({
        description: 'Only logs the ids of the organizations that the job would change: no mark, message or event.',
        default: true,
      }),
    },
  ),
  organizationdelete: object(
    'Scheduled job that deletes organizations whose time between mark and deletion has passed.',
    {
      maxdeletesperrun: integer({
        description:
          'Maximum number of organizations deleted in one run, oldest mark first. Those below them are deleted with them.',
        unit: 'organizations',
        default: 25,
        minimum: 1,
        maximum: 10_000,
      }),
      enabled: flag({ description: 'Runs the job, every day. Requires subscription.enabled.' }),
    },
  ),
  integrationlifecycle: object(
    'Scheduled job that checks the state of integrations and starts the actions they need.',
    {
      enabled: flag({ description: 'Runs the job.', default: true }),
      dryrun: flag({
        description: 'Only logs the ids of the integrations and the actions that the job would start.',
        default: true,
      }),
      maxperrun: integer({
        description: 'Maximum number of integrations checked in one run.',
        unit: 'integrations',
        default: 100,
        minimum: 1,
        maximum: 10_000,
      }),
    },
  ),
});
