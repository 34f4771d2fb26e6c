"""What schemathesis needs to know about this API besides its description: credentials, formats of its own, and what an error code means."""

import base64
import datetime
import os

import requests
import schemathesis
from hypothesis import strategies as st

API = os.environ["API"]

# Codes that say: the request is not as the description wants it. All other refusals depend on what the server holds.
NOT_AS_DESCRIBED = {"invalid_input", "malformed_body", "malformed_request"}

# What a URL of a customer leads to.
URLS = ["does not begin with https", "public address", "cannot be resolved"]

# Refusals that a description cannot express, by the operation, each with a part of its message: rules between values, and with those that the
# server holds, the time, and what names resolve to.
BETWEEN_VALUES = {
    # Two parameters of a query.
    "": ["cannot be combined with first"],
    "announceOrganizationDeletion": ["must be in the future", "must be at most"],
    "createApiToken": ["is not in the future"],
    "createPersonalAccessToken": ["is not in the future"],
    # Fields, filters and actions of a kind.
    "createExport": ["must be one of", "/filters/"],
    "createImport": ["cannot be", "is not possible for"],
    "createSavedView": ["must be one of", "/filter/"],
    "updateSavedView": ["must be one of", "/filter/"],
    # A topic needs the scope of its kind.
    "createWebhookEndpoint": ["needs the scope", *URLS],
    "updateWebhookEndpoint": ["needs the scope", *URLS],
    # Positions are not for clients to make.
    "listEventDeliveries": ["must be the position of a delivery"],
    "updateNotificationPreference": ["is required where"],
    "createTask": ["must not be in the future"],
    "updateTask": ["needs the status", "must not be in the future"],
}


@schemathesis.check
def described_requests_are_accepted(ctx, response, case):
    """Whatever the description allows is not refused as a wrong input."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code != 400:
        return None
    problem = response.json()
    # Errors of SCIM have no code.
    if problem.get("code") not in NOT_AS_DESCRIBED:
        return None
    operation = case.operation.definition.raw.get("operationId", "")
    known = BETWEEN_VALUES[""] + BETWEEN_VALUES.get(operation, [])
    reasons = [f"{error['path']} {error['message']}" for error in problem.get("errors", [])] or [problem["detail"]]
    unknown = [reason for reason in reasons if not any(part in reason for part in known)]
    if unknown:
        raise AssertionError(f"the description allows what is refused: {'; '.join(unknown)}")
    return None


@schemathesis.auth(refresh_interval=5)
class Demo:
    """The owner of the demo. Some operations end the session, so the sign-in is repeated every few seconds."""

    def get(self, case, context):
        session = requests.Session()
        session.get(f"{API}/livez")
        answer = session.post(
            f"{API}/v1/login",
            json={"username": os.environ["DEMO_EMAIL"], "password": os.environ["DEMO_PASSWORD"]},
            headers={"X-Csrf-Token": session.cookies["csrf_token"]},
        )
        answer.raise_for_status()
        return answer.json()["access_token"]

    def set(self, case, data, context):
        case.headers["Authorization"] = f"Bearer {data}"


# Letters of one script among those that look alike: names do not mix them.
characters = "abcdefghijklmnopqrstuvwxyzABCXYZ 0123456789äöüßéñçłø東京-_'&()"
names = st.text(alphabet=characters, min_size=3, max_size=12).filter(lambda name: len(name.strip()) >= 3)

schemathesis.openapi.format("name", names)
schemathesis.openapi.format("file-name", names.map(lambda name: f"{name}.txt"))
schemathesis.openapi.format("idn-hostname", st.sampled_from(["example.com", "bücher.example", "a.b.example", "localhost"]))
schemathesis.openapi.format("time-zone", st.sampled_from(["Europe/Vienna", "UTC", "America/New_York"]))
# A year in UTC has four digits and is not 0; the format allows more at the ends of the calendar, with an offset.
instants = st.builds(
    lambda at, offset: at.isoformat() + offset,
    st.datetimes(min_value=datetime.datetime(1, 1, 2), max_value=datetime.datetime(9999, 12, 30)),
    st.sampled_from(["Z", "+00:00", "+05:45", "-09:30", "+14:00"]),
)
schemathesis.openapi.format("date-time", instants)
schemathesis.openapi.format("decimal", st.sampled_from(["0", "1.5", "12.50"]))
schemathesis.openapi.format(
    "tus-metadata",
    names.map(lambda name: f"filename {base64.b64encode(f'{name}.txt'.encode()).decode()}"),
)


@schemathesis.serializer("application/offset+octet-stream")
def bytes_of_upload(ctx, value):
    return {"data": ctx.case.as_transport_kwargs and bytes(str(value), "utf-8")}
