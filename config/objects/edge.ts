import { flag, object, secret, text } from '../schema/field.ts';

/** `edge` (specification: Edge). */
export const edge = object('Edge-platform integration for snapshots and shortlink API access.', {
  enabled: flag({ description: 'Serves the snapshot endpoint. Needs apitoken and accountid.' }),
  apitoken: secret({ description: 'API token at the edge platform. Required while enabled.' }),
  accountid: text({ description: 'Account at the edge platform. Required while enabled.' }),
  clientid: text({
    description: 'Access client id for shortlink API requests, used when shortlinks.clientid is empty.',
  }),
  clientsecret: secret({
    description: 'Access client secret for shortlink API requests, used when shortlinks.clientsecret is empty.',
  }),
});
