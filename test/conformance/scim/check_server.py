"""Runs scim2-tester against a SCIM service, and prints the checks that fail. The bearer token is the first line of the input."""

import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server

http = Client(base_url=sys.argv[1], headers={"Authorization": f"Bearer {sys.stdin.readline().strip()}"}, timeout=60)
client = SyncSCIMClient(http)
client.discover()
results = check_server(client)
for result in results:
    if result.status is not Status.SUCCESS:
        print(f"{result.status.name} {result.title}: {result.reason}")
print(f"{len(results)} checks")
