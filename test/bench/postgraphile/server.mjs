import { createServer } from 'node:http';
import { postgraphile } from 'postgraphile';
import { makePgService } from 'postgraphile/adaptors/pg';
import { grafserv } from 'postgraphile/grafserv/node';
import { PostGraphileAmberPreset } from 'postgraphile/presets/amber';

const peer = postgraphile({
  extends: [PostGraphileAmberPreset],
  // It offers no way back along a key without an index, and does not count ours, which cover live rows only.
  disablePlugins: ['PgIndexBehaviorsPlugin'],
  pgServices: [
    makePgService({ connectionString: process.env.PEER_DATABASE, schemas: ['public'], poolConfig: { max: 20 } }),
  ],
  grafserv: { graphqlPath: '/graphql', graphiql: false, watch: false },
});
const server = createServer();
await peer.createServ(grafserv).addTo(server);
server.listen(0, '127.0.0.1', () => process.send({ url: `http://127.0.0.1:${server.address().port}` }));
