import { flag, integer, list, object, secret, text, type Fields } from '../schema/field.ts';
import { httpUrl } from '../schema/format.ts';

const destinations = ['', 'bucketstore', 'edgestore', 'cloudstore', 'disk', 'database'] as const;

/** Fields that every provider has, then its own. */
function provider<P extends Fields>(description: string, own: P) {
  return object(description, {
    enabled: flag({ description: 'Makes the provider available for files.' }),
    ensureavailable: flag({
      description: 'The start fails unless the provider responds (or, for disk, the folder is writable).',
      restart: true,
    }),
    bucket: text({
      description:
        'Name of the bucket, which must exist; for disk, the path of the folder, which is created; for database, the namespace of its rows. Required while enabled, except for database. Files that exist stay where they are.',
    }),
    backup: object('Asynchronous copies of files.', {
      enabled: flag({ description: 'Copies every new file after the transaction that created it has been committed.' }),
      provider: text({
        description:
          'Provider that receives the copies; region, endpoint and credentials come from its own settings. When empty, copies go to the same provider, into a bucket named like the original with the suffix `-backup`.',
        values: destinations,
        default: '',
      }),
      readfrombackup: flag({
        description:
          'Reads files from their verified copies, for disaster recovery; files without a copy are read from the provider.',
      }),
      region: text({
        description: 'Region of the copies. When empty, the region of the destination provider is used.',
      }),
    }),
    baseurl: text({
      description:
        'Base URL of downloads through this server. Without domain, the default is auth.token.issuer + `/v1/files`.',
      format: httpUrl,
      fromDomain: (domain) => `https://api.${domain}/v1/files`,
      restart: true,
    }),
    ...own,
  });
}

const proxypresignenabled = flag({
  description:
    'Download URLs point to this server, which verifies their signature and streams the file. When off, they point to the provider.',
});

const credentials = {
  accesskeyid: text({ description: 'Access key id. When empty, the credentials of the machine are used.' }),
  secretaccesskey: secret({ description: 'Secret access key.' }),
};

/** `objectstorage`. */
export const objectstorage = object('Object storage providers.', {
  enabled: flag({ description: 'Accepts and serves files. When off, uploads are rejected.', default: true }),
  keys: list({
    description: 'Names of the multipart form fields in which REST uploads carry files.',
    items: text({ description: 'Name of a form field.', maxLength: 100 }),
    default: ['uploadFile'],
  }),
  maxsizemb: integer({
    description: 'Maximum size of a file; the upload of a larger file gets 413.',
    unit: 'megabytes',
    default: 32,
    minimum: 1,
    maximum: 102_400,
  }),
  maxmemorymb: integer({
    description: 'Maximum memory for uploads in progress. Uploads that exceed it are buffered in temporary files.',
    unit: 'megabytes',
    default: 32,
    minimum: 1,
    maximum: 102_400,
  }),
  devmode: flag({
    description:
      'Stores files in the local state folder, creates its folders, and ignores all providers. For development.',
    restart: true,
  }),
  providers: object('Providers that can store files.', {
    bucketstore: provider('A bucket service with an S3-compatible interface.', {
      proxypresignenabled,
      region: text({ description: 'Region of the bucket.' }),
      endpoint: text({
        description: 'URL of an S3-compatible service. When empty, the public service of the region is used.',
        format: httpUrl,
      }),
      credentials: object('Credentials of the bucket service.', credentials),
    }),
    edgestore: provider('The bucket service of the edge platform.', {
      proxypresignenabled,
      endpoint: text({
        description: 'URL of the service. When empty, it is derived from credentials.accountid.',
        format: httpUrl,
      }),
      credentials: object('Credentials of the edge platform.', {
        ...credentials,
        accountid: text({
          description: 'Account id at the edge platform. Required while enabled, unless endpoint is set.',
        }),
      }),
    }),
    cloudstore: provider('The bucket service of the cloud platform.', {
      proxypresignenabled,
      endpoint: text({ description: 'URL of an emulator. When empty, the public service is used.', format: httpUrl }),
      projectid: text({
        description:
          'Project at the cloud platform to which requests are charged; the credentials must permit that. When empty, the project of the bucket.',
      }),
    }),
    disk: provider('Stores files in a folder of this machine.', {
      proxypresignenabled,
      endpoint: text({
        description: 'Base URL of download URLs while proxypresignenabled is off.',
        format: httpUrl,
      }),
    }),
    database: provider('Stores files in the PostgreSQL database.', {}),
  }),
});
