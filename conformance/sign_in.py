"""Signing in: the SDK's OAuth, with a browser that follows one redirect and a storage that forgets with the process."""

from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider, TokenStorage
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.extensions.identity_assertion import IdentityAssertionOAuthProvider
from mcp.client.auth.utils import build_protected_resource_metadata_discovery_urls
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

__all__ = ["auth_of"]

PATIENCE = 60.0
"""Seconds for a request of ours: the suite has a limit of its own, and its servers are slow on a busy machine."""

BY_HEADER: Literal["client_secret_basic"] = "client_secret_basic"
"""How a client shows its secret to a token endpoint."""

CALLBACK = AnyUrl("http://localhost:3000/callback")
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The address that the suite takes for a client's own metadata document."""


class Storage(TokenStorage):
    """Tokens and the client's registration, in memory."""

    def __init__(self, client: OAuthClientInformationFull | None = None) -> None:
        self._client = client
        self._tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        """The tokens of the last sign-in."""
        return self._tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Keeps them."""
        self._tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """The registration."""
        return self._client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Keeps it."""
        self._client = client_info


class Browser:
    """Opens the page where a user would say yes; the suite's server says it at once, in the redirect."""

    def __init__(self) -> None:
        self._landed: dict[str, str] = {}

    async def open(self, address: str) -> None:
        """Follows the address to the redirect that holds the code."""
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            response = await client.get(address, follow_redirects=False)
        query = parse_qs(urlsplit(response.headers["location"]).query)
        self._landed = {name: values[0] for name, values in query.items()}

    async def landed(self) -> AuthorizationCodeResult:
        """What the redirect said."""
        found = self._landed
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))


async def auth_of(scenario: str, url: str, told: dict[str, Any]) -> httpx2.Auth:
    """How a scenario signs in: with a code unless its name says otherwise."""
    match scenario:
        case "auth/client-credentials-jwt":
            return _by_signature(url, told)
        case "auth/client-credentials-basic":
            return ClientCredentialsOAuthProvider(
                url, Storage(), told["client_id"], told["client_secret"], token_endpoint_auth_method=BY_HEADER
            )
        case "auth/enterprise-managed-authorization":
            return await _by_employer(url, told)
        case _:
            return _by_code(url, told)


def _by_code(url: str, told: dict[str, Any]) -> OAuthClientProvider:
    browser, registered = Browser(), None
    if "client_id" in told:
        secret = told.get("client_secret")
        registered = OAuthClientInformationFull(
            client_id=told["client_id"],
            client_secret=secret,
            redirect_uris=[CALLBACK],
            token_endpoint_auth_method=BY_HEADER if secret else "none",
        )
    return OAuthClientProvider(
        url,
        OAuthClientMetadata(client_name="toolwire-conformance", redirect_uris=[CALLBACK]),
        Storage(registered),
        browser.open,
        browser.landed,
        client_metadata_url=CLIENT_DOCUMENT,
    )


def _by_signature(url: str, told: dict[str, Any]) -> PrivateKeyJWTOAuthProvider:
    client = told["client_id"]
    signed = SignedJWTParameters(
        issuer=client,
        subject=client,
        signing_key=told["private_key_pem"],
        signing_algorithm=told.get("signing_algorithm", "ES256"),
    )
    return PrivateKeyJWTOAuthProvider(url, Storage(), client, signed.create_assertion_provider())


async def _by_employer(url: str, told: dict[str, Any]) -> IdentityAssertionOAuthProvider:
    """SEP-990: the employer's own server vouches for the user.

    Who issues is configuration; the suite does not tell it, so it is asked of the resource.
    """
    (document,) = build_protected_resource_metadata_discovery_urls(None, url)[:1]
    async with httpx2.AsyncClient(timeout=PATIENCE) as client:
        issuer = (await client.get(document)).json()["authorization_servers"][0]

    async def vouched(audience: str, resource: str) -> str:
        asked = {
            "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
            "requested_token_type": "urn:ietf:params:oauth:token-type:id-jag",
            "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
            "subject_token": told["idp_id_token"],
            "client_id": told["idp_client_id"],
            "audience": audience,
            "resource": resource,
        }
        async with httpx2.AsyncClient(timeout=PATIENCE) as client:
            token: str = (await client.post(told["idp_token_endpoint"], data=asked)).json()["access_token"]
        return token

    return IdentityAssertionOAuthProvider(
        url,
        Storage(),
        told["client_id"],
        told["client_secret"],
        issuer=issuer,
        assertion_provider=vouched,
        token_endpoint_auth_method=BY_HEADER,
    )
