import { flag, integer, list, object, secret, text, type Fields } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

const destinations = ['', 'bucketstore', 'edgestore', 'cloudstore', 'disk', 'database'] as const;

/** Fields that every provider has, then its own. */
function provider<P extends Fields>(description: string, own: P) {
  return object(description, {
    enabled: flag({ description: 'Makes the provider available.' }),
    ensureavailable: flag({
      description: 'Start fails unless the provider answers (or the folder can be written).',
      restart: true,
    }),
    bucket: text({
      description: 'Name of the bucket; path of the folder for disk; not used by database. Required while enabled.',
    }),
    backup: object('Asynchronous copies of every file.', {
      enabled: flag({ description: 'Copies every new file after its commit.' }),
      provider: text({
        description:
          'Kind of provider to copy to; its own settings give region, endpoint and credentials. Empty: the same provider, into a bucket beside the live one with the suffix `-backup`.',
        values: destinations,
        default: '',
      }),
      readfrombackup: flag({ description: 'Serves reads from the copies, for disaster recovery.' }),
      region: text({ description: 'Region of the copies. Empty: that of the destination provider.' }),
    }),
    baseurl: text({
      description: 'Prefix of proxy download URLs. Empty: auth.token.issuer + `/v1/files`.',
      format: httpUrl,
      fromDomain: (domain) => `https://api.${domain}/v1/files`,
    }),
    ...own,
  });
}

const proxypresignenabled = flag({
  description:
    'Download URLs point to this server, which checks their signature and streams the file; off: to the provider.',
});

const credentials = {
  accesskeyid: text({ description: 'Access key id. Empty: the credentials of the machine.' }),
  secretaccesskey: secret({ description: 'Secret access key.' }),
};

/** `objectstorage` (specification: Object storage; Limits). */
export const objectstorage = object('Object storage providers.', {
  enabled: flag({ description: 'Accepts and serves files; off: uploads are refused.', default: true }),
  keys: list({
    description: 'Names of the multipart form fields in which REST uploads carry files.',
    items: text({ description: 'Name of a form field.', maxLength: 100 }),
    default: ['uploadFile'],
  }),
  maxsizemb: integer({
    description: 'Largest file; a larger one gets 413.',
    unit: 'megabytes',
    default: 32,
    minimum: 1,
    maximum: 102_400,
  }),
  maxmemorymb: integer({
    description: 'Memory for uploads in progress; what exceeds it goes through temporary files.',
    unit: 'megabytes',
    default: 32,
    minimum: 1,
    maximum: 102_400,
  }),
  devmode: flag({
    description:
      'Uses a local disk provider in the local state folder, creates its folders and ignores the other providers.',
    restart: true,
  }),
  providers: object('The places where files can be kept.', {
    bucketstore: provider('A bucket service with the common bucket interface, or a compatible one.', {
      proxypresignenabled,
      region: text({ description: 'Region of the bucket.' }),
      endpoint: text({
        description: 'URL of a compatible service. Empty: the public one of the region.',
        format: httpUrl,
      }),
      credentials: object('Credentials of the bucket service.', credentials),
    }),
    edgestore: provider('The bucket service of the edge platform.', {
      proxypresignenabled,
      endpoint: text({
        description: 'URL of the service. Empty: derived from credentials.accountid.',
        format: httpUrl,
      }),
      credentials: object('Credentials of the edge platform.', {
        ...credentials,
        accountid: text({
          description: 'Account at the edge platform. Required while enabled, unless endpoint is set.',
        }),
      }),
    }),
    cloudstore: provider('The bucket service of the cloud platform.', {
      proxypresignenabled,
      endpoint: text({ description: 'URL of an emulator. Empty: the public service.', format: httpUrl }),
      projectid: text({ description: 'Project at the cloud platform.' }),
    }),
    disk: provider('Files in a folder of this machine.', {
      proxypresignenabled,
      endpoint: text({
        description: 'URL that files are served from while proxypresignenabled is off.',
        format: httpUrl,
      }),
    }),
    database: provider('Files in the relational database.', {}),
  }),
});
