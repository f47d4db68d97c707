"""Names of files and folders that may hold a secret: what a search must not bring up by itself.

The same names that the rules of permissions know; a test compares them. To read one by its own
path is another matter, which the rules decide.
"""

import fnmatch
import re
from collections.abc import Sequence

NAMES = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".password-store", ".netrc"),
    *(".pgpass", ".my.cnf", ".git-credentials", ".npmrc", ".pypirc", ".htpasswd", ".vault-token"),
    *(".terraform.d", ".env", ".env.*", "*.env", ".envrc", ".secrets", "secrets", "secrets.*"),
    *("*.secret", "*secret*.json", "*secret*.toml", "*secret*.y*ml", "credentials"),
    *("credentials.*", "*credentials*.json", "*_credentials", "*.pem", "*.key", "*.p12", "*.pfx"),
    *("*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg", "*.asc", "*.ovpn", "*.token", "*_token"),
    *("token", "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", "*_rsa", "*_ed25519"),
    *("*.kwallet", "keyrings", "keyring", "login.keychain*", "Keychains", "wallet.dat"),
    *("service-account*.json", "*password*.txt", "passwords*", "htpasswd", "*_history"),
    *(".viminfo", ".lesshst", ".python_history", "logins.json", "key4.db", "cookies.sqlite"),
    *("Cookies", "Login Data*", "Web Data", "Local State", ".mozilla", ".thunderbird"),
    *(".bitcoin", ".ethereum", ".config/gcloud", ".s3cfg", ".boto", ".rclone.conf"),
    *("rclone.conf", ".msmtprc", ".muttrc", ".fetchmailrc", ".config/gh", "hosts.yml"),
    *("auth.json", ".dockercfg", ".cargo/credentials*", ".gem/credentials", ".databrickscfg"),
)
HARMLESS = ("*.pub", ".env.example", ".env.sample", ".env.template", "known_hosts")


def _pattern(names: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(fnmatch.translate(name.casefold()) for name in names))


_NAMED = _pattern([name for name in NAMES if "/" not in name])
_IN_FOLDER = _pattern([name for name in NAMES if "/" in name])
_HARMLESS = _pattern(HARMLESS)


def may_be(parts: Sequence[str]) -> bool:
    """Whether the last of a path's names, alone or in its folder, is one of these."""
    name = parts[-1].casefold()
    if _HARMLESS.fullmatch(name):
        return False
    return bool(_NAMED.fullmatch(name) or _IN_FOLDER.fullmatch("/".join(parts[-2:]).casefold()))
