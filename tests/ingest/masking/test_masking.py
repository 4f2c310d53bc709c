import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ingest.masking import MASK, mask_settings, mask_text, names_a_secret

# --- names --------------------------------------------------------------------------------------------------


SECRETS = """
    password mysql-password --mysql-password pgsql_password PGPASSWORD MYSQL_PWD passwd pwd Pwd
    dbPassword passWord userpass db_pass pass password1 password_2 password_hash
    -Djavax.net.ssl.keyStorePassword -Dpassword client_secret secretValue token accessToken GITHUB_TOKEN
    api_key apiKey apikey -Dkey key aws_secret_access_key ssl-key file_key_management_encryption_key
    credential credentials Authorization passphrase wsrep_sst_auth requirepass masterauth auth proxyAuth
    REDISCLI_AUTH mysql_pass pg_superuserpass storepass accountkey hostkey Set-Cookie X-Amz-Signature
"""
HARMLESS = """
    key_buffer_size primary_key foreign_key sort_key foreign_key_checks password_encryption
    default_password_lifetime validate_password validate_password.length old_passwords skip-name-resolve
    keys_per_second tokenizer secretary pass-through bypass compass keyspace monkey sortkey
    Handler_read_key max_key two_pass default_auth require_auth secure_auth
    default_authentication_plugin wsrep_sst_method max_allowed_packet authentication_timeout author
    threads user -
"""


@pytest.mark.parametrize("name", SECRETS.split())
def test_what_holds_a_secret_is_known_by_its_name(name):
    assert names_a_secret(name)


@pytest.mark.parametrize("name", ["", *HARMLESS.split()])
def test_a_harmless_setting_is_not_taken_for_a_secret(name):
    assert not names_a_secret(name)


# --- texts --------------------------------------------------------------------------------------------------

CASES = [
    (
        "sysbench --mysql-user=sbtest --mysql-password=sb --threads=4 run",
        "--mysql-password=*** --threads=4 run",
    ),
    ("sysbench --mysql-password sb --threads=4 run", "--mysql-password *** --threads=4"),
    ("mysqlslap --password='a b' --csv", "--password='***' --csv"),
    ("mysqlslap --password=a\\ b --csv", "--password=*** --csv"),
    ("mariadb-slap -h 127.0.0.1 -P 23370 -usbtest -psb --csv", "-P 23370 -usbtest -p*** --csv"),
    ("/usr/bin/mysql -uroot -p'a b' test", "-uroot -p*** test"),
    ("mysql -u root \\\n  -psb test", "-u root \\\n  -p*** test"),
    ("PGPASSWORD=sb pgbench -c 4 -S", "PGPASSWORD=*** pgbench -c 4 -S"),
    ("export MYSQL_PWD='a b'; sysbench run", "MYSQL_PWD=*** sysbench run"),
    ("postgres://bench:sb@host:5432/db", "postgres://***@host:5432/db"),
    ("postgres://bench:s@b/b@host:5432/db", "postgres://***@host:5432/db"),
    ("https://sb@host/x see mail@example.org", "https://***@host/x see mail@example.org"),
    ("root:sb@tcp(127.0.0.1:3306)/db", "***@tcp(127.0.0.1:3306)/db"),
    ("jdbc:mariadb://h:3306/d?user=u&password=sb&useSSL=false", "d?user=u&password=***&useSSL=false"),
    ("jdbc:sqlserver://h;user=u;password={s;b};encrypt=true", "user=u;password=***;encrypt=true"),
    ("host=h password=sb dbname=d", "host=h password=*** dbname=d"),
    ("java -Dpassword=sb -Dbench.threads=4 -jar x.jar -prof gc", "-Dpassword=*** -Dbench.threads=4"),
    ("-Djavax.net.ssl.keyStorePassword=sb -Xmx1g", "keyStorePassword=*** -Xmx1g"),
    ("[client]\nuser = u\npassword = two words\nport = 3306", "password = ***\nport = 3306"),
    ('[client]\npassword="two words"\nport=3306', 'password="***"\nport=3306'),
    ("primary_conninfo = 'host=h user=u password=sb'", "primary_conninfo = 'host=h user=u password=***"),
    ('{"user": "u", "password": "two \\"words", "port": 3306}', '"password": "***", "port": 3306}'),
    ('{"password":\n  "sb"}', '"password":\n  "***"}'),
    ("{'user': 'u', 'password': 'two words', 'port': 3306}", "'password': '***', 'port': 3306}"),
    ('"{\\"password\\": \\"two words\\", \\"port\\": 1}"', '\\"password\\": \\"***\\", \\"port\\": 1'),
    ('{"passwords": ["sb", "bs"], "port": 1}', '"passwords": ***'),
    ("password: sb\nport: 3306", "password: ***\nport: 3306"),
    ("| report_password | two words | x |", "| report_password | *** | x |"),
    ("report_password\ttwo words\nport\t3306", "report_password\t***\nport\t3306"),
    ("CREATE USER u IDENTIFIED BY 'two words'", "IDENTIFIED BY '***'"),
    ("ALTER ROLE u PASSWORD 'sb' VALID", "PASSWORD '***' VALID"),
    ("SET PASSWORD = PASSWORD('sb')", "PASSWORD = ***"),
    ("curl -H 'Authorization: Bearer sb.sb-sb' https://h", "Authorization: *** https://h"),
    ("the header says Bearer sb.sb-sb", "Bearer ***"),
    ("sshpass -p sb ssh bench-03 run", "sshpass -p *** ssh bench-03"),
    ("redis-cli -h h -a 'sb' ping", "redis-cli -h h -a *** ping"),
    ("token bd_abcdefghijklmnopqrstuvwxyz012345", "token ***"),
    ("[mysqld]\nwsrep_sst_auth=sst:sb-sb\nport=3306", "wsrep_sst_auth=***\nport=3306"),
    ("wsrep_sst_auth = 'sst:sb-sb'", "wsrep_sst_auth = '***'"),
    ("port 6379\nrequirepass sb-sb\nmasterauth sb-sb\nmaxmemory 1gb", "requirepass ***\nmasterauth ***\nmax"),
    ("redis-server --requirepass sb-sb --port 6380", "--requirepass *** --port 6380"),
    ("CONFIG SET requirepass sb-sb", "CONFIG SET requirepass ***"),
    ("user default on >sb-sb ~* +@all", "user default on >*** ~* +@all"),
    ("curl -u bench:sb-sb https://h/", "curl -u bench:*** https://h/"),
    ("curl -ubench:sb-sb https://h/", "curl -ubench:*** https://h/"),
    ("curl --user 'bench:sb-sb sb-' https://h/", "--user 'bench:***' https://h/"),
    ("curl --proxy-user bench:sb-sb https://h/", "--proxy-user bench:*** https://h/"),
    ("wget --user=bench --password=sb-sb https://h/", "--user=bench --password=*** https://h/"),
    ("wget --http-password sb-sb https://h/", "--http-password *** https://h/"),
    ('["curl", "-u", "bench:sb-sb", "https://h/"]', '"-u", "bench:***", "https://h/"'),
    ("diset tpcc mysql_pass sb-sb\ndiset tpcc mysql_count_ware 10", "mysql_pass ***\ndiset tpcc mysql_count"),
    ("diset tpcc pg_superuserpass {sb-sb sb-}\nvuset vu 4", "pg_superuserpass ***\nvuset vu 4"),
    ("Changed tpcc:mysql_pass from sb-sb to sb-2 for MySQL", "mysql_pass from *** to *** for MySQL"),
    ("mongosh --host h -u bench -p sb-sb bench", "-u bench -p *** bench"),
    ("java -jar x.jar -password sb-sb -host h", "-password *** -host h"),
    ("machine h login bench password sb-sb", "login bench password ***"),
    ("host=h auth=sb-sb port=5", "host=h auth=*** port=5"),
    ("https://h/x?auth=sb-sb&y=1", "?auth=***&y=1"),
    ("X-Vault: hvs.CAESIsb-sb0000000000000000 y", "X-Vault: *** y"),
    ("with s.abcdefGHIJKLmnop12345678 it works", "with *** it works"),
    ("AKIAIOSFODNN7EXAMPLE is it, and ASIAIOSFODNN7EXAMPLE", "*** is it, and ***"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = ***"),
    (f"git clone with {'ghp_' + 36 * 'a'} or {'github_pat_' + 40 * 'b'}", "with *** or ***"),
    (f"PRIVATE {'glpat-' + 20 * 'a'}", "PRIVATE ***"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.sb-sb_x is a JWT", "*** is a JWT"),
    ("https://hooks.slack.com/services/T00000000/B00000000/sb-sb told", "hooks.slack.com/services/*** told"),
    (f"{'xoxb' + '-1234567890-sb-sb'} tells", "*** tells"),
    (f"hash {'*' + 40 * 'A'} x", "hash *** x"),
    (
        "-----BEGIN RSA PRIVATE KEY-----\nsb\n-----END RSA PRIVATE KEY-----",
        "-----BEGIN RSA PRIVATE KEY-----***-----END",
    ),
    ("sqlplus -S scott/sb@//db1:1521/ORCL x", "sqlplus -S scott/***@//db1:1521/ORCL x"),
    ("jdbc:oracle:thin:scott/sb@10.0.0.5:1521:x", "jdbc:oracle:thin:scott/***@10.0.0.5:1521:x"),
    ('sqlldr "system"/"s b"@orcl', '"system"/***@orcl'),
    ("userid=scott/sb log=x", "userid=scott/*** log=x"),
    ("db.user=scott/sb", "db.user=scott/***"),
    ("mysql -h h -u root -p sb test", "-p *** test"),
    ("./mysql-8.0/bin/mysqldump -uroot -p 's;b' test", "-p *** test"),
    ("tpcc_start -h h -P 3306 -u root -p 12345 -w 10", "-P 3306 -u root -p *** -w 10"),
    ("charbench -cs //h/s -u soe -p sb -uc 8", "-u soe -p *** -uc 8"),
    ("plink -batch -pw sb root@h uptime", "-pw *** root@h uptime"),
    ("ssh-keygen -p -P 'sb' -N sb -f key", "ssh-keygen -p -P *** -N *** -f key"),
    ("openssl enc -d -aes-256-cbc -k sb -in x", "-k *** -in x"),
    ("openssl rsa -passin pass:sb -in x", "-passin pass:*** -in x"),
    ("gpg --batch --passphrase sb -c x", "--passphrase *** -c x"),
    ("zip -P sb a.zip b", "zip -P *** a.zip b"),
    ("snmpwalk -v2c -c sb 10.0.0.1", "snmpwalk -v2c -c *** 10.0.0.1"),
    ("snmpget -v3 -u me -A sb -X sb h", "-A *** -X *** h"),
    ("# snmpd\nrocommunity sb 10.0.0.0/8\nsyslocation x", "rocommunity *** 10.0.0.0/8\nsyslocation x"),
    ("snmp-server community sb RO", "snmp-server community *** RO"),
    ("--snmp-community=sb x", "--snmp-community=*** x"),
    ("diset connection pg_superuserpass sb", "pg_superuserpass ***"),
    ("diset connection password sb", "diset connection password ***"),
    ("giset connection pass sb", "giset connection pass ***"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_a_secret_is_masked_and_what_stands_around_it_is_kept(text, expected):
    masked = mask_text(text)
    assert expected in masked
    assert "sb-" not in masked.replace("sbtest", "")


@pytest.mark.parametrize(
    "text",
    [
        "key_buffer_size=16M sort_key=id password_encryption=scram-sha-256",
        "java -jar benchmarks.jar -p protocol=text -prof gc -tu s -t 4",
        "pgbench -p 5432 -P 1 -c 4",
        "mysql --password --host=h",
        "[client]\npassword =\nport = 3306",
        "transactions: 4812 (1203.1 per sec.)",
        "the password was wrong",
        "jdbc:mariadb://127.0.0.1:23307/sbtest",
        "mail someone@example.org",
        "wsrep_sst_method=rsync\nwsrep_sst_receive_address=10.0.0.1:4444",
        "initdb --auth=scram-sha-256 --auth-host=md5",
        "docker run --user 1000:1000 -u 999:999 postgres",
        "curl -s https://h/x -o y:z",
        "point_select  15344\nkey 12\ntoken count\n",
        "SHOW STATUS\nHandler_read_key\t15344",
        "default_authentication_plugin=mysql_native_password",
        "--rand-type=uniform --auto-inc=on --secondary=off --mysql-ignore-errors=1213",
        "java -cp mongodb-binding/conf x.Client -p recordcount=1 -p table=t",
        "pk_ab12cd34ef56 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        "10:24 @ 11:00",
        "psql -h h -p 5432 -U bench; ssh -p 2222 me@h; pgbench -h x -p 6432 -U u",
        "mysql -u root -p 3306 -e 'SELECT 1'",
        "./bin/go-ycsb run mysql -P workloads/workloada -p operationcount=400000 -p mysql.host=db-01",
        "sudo -u mysql mkdir -p /var/lib/mysql/data",
        "docker run --name mysql -p 3306:3306 -d mysql:8",
        "uses: actions/checkout@v4, foo/bar@1.2.3, fio/rand@4k and org/image@sha256:0123",
        "git clone git@github.com:foo/bar.git; image/name@latest",
        "user=app userid=/home/app user: scott/tiger",
        "gpg --passphrase-file /etc/p --passphrase-fd 0; openssl rsa -passin env:X",
        "ssh-keygen -t rsa -N '' -f key; openssl speed -evp aes-256-gcm",
        "Server version: 8.0.36 MySQL Community Server - GPL",
        "| enterprise | community | oracle |\ncommunity\tedition",
        "redis-benchmark -c 50 -n 1000; wrk -c 100 -t 4 http://h/",
        "diset connection mysql_port 3306",
        "",
    ],
)
def test_a_text_without_secrets_stays_as_it_is(text):
    assert mask_text(text) == text


# Ways in which a text says a secret; the secret of the property below is put in the place of {}.
WAYS = [
    "--password={}",
    "--mysql-password {} --threads=4",
    "--pgsql-password='{}' run",
    'run --token="{}"',
    "mysql -uroot -p{} test",
    "PGPASSWORD={} pgbench",
    "password = {}",
    "[client]\npassword={}\nport=1",
    '{{"password": "{}", "a": 1}}',
    "{{'db': {{'passwd': '{}'}}}}",
    "postgresql://u:{}@h/d",
    "jdbc:mysql://h/d?user=u&password={}",
    "-Dapi.key={} -Xmx1g",
    "| secret | {} |",
    "secret\t{}",
    "IDENTIFIED BY '{}'",
    "Authorization: Bearer {}",
    "x=1 client_secret: {} y=2",
    "url=jdbc:x?secret={} z",
    "wsrep_sst_auth={}",
    "diset tpcc mysql_pass '{}'",
    "requirepass '{}'",
    "curl -u 'bench:{}' https://h",
    "mysqladmin -u root -p '{}' status",
    "pscp -pw '{}' a b",
    "ssh-keygen -N '{}' -f key",
    "snmpget -c '{}' h",
    "diset connection password '{}'",
    "rocommunity '{}'",
]
# Letters and marks that a generated password may have, after a beginning that can be searched for.
PASSWORDS = st.text("abcXYZ019!#$%()*+,-./:<=>@[]^_{|}~", max_size=12).map("S3cr3t{}".format)


@given(st.sampled_from(WAYS), PASSWORDS, st.text(max_size=20), st.text(max_size=20))
def test_a_secret_never_survives(way, secret, before, after):
    quoted = secret.replace("'", "").replace("|", "")
    masked = mask_text(f"{before}\n{way.format(quoted)}\n{after}")
    assert "S3cr3t" not in masked


PIECES = st.sampled_from(
    [
        *("=: '\"\\@?&;|\t\n({[x"),
        *(
            "--",
            "://",
            "-p",
            "-u a:",
            "diset tpcc ",
            "set ",
            "changed ",
            " from ",
            " to ",
            "requirepass ",
            "-D",
        ),
        *("tcp(", "mysql", "password", "token", "key", "Bearer ", "authorization", "identified by "),
        *("mysql -p ", "ssh-keygen -N ", "scott/tiger@", "user=a/", "community ", MASK),
    ]
)


@given(st.one_of(st.text(max_size=60), st.lists(PIECES, max_size=12).map("".join)))
@example("password='" + "x" * 10)
@example("mysql -p '0'0")
def test_masking_twice_is_masking_once(text):
    once = mask_text(text)
    assert mask_text(once) == once


@pytest.mark.parametrize(
    "piece",
    [
        *("://", "a:@", "password=", "'", '=\\"', " ", "a=", "\t", "authorization:", "x@("),
        *("curl -u", "-u a:", "diset a ", "set a ", "user a on ", "changed a from ", "login a ", "mongo -"),
        *("eyJ", "eyJabcdefgh.", "s.", "$5$", "https://hooks.slack.com/services/", "\na ", "a_pass "),
        *(
            "mysql -p ",
            "mysql ",
            "snmpget -c",
            "zip '",
            'zip "\\',
            "a/a@",
            "=a/",
            "user=a/",
            "user",
            "a.user",
        ),
        *("\ncommunity ", "\ncom2sec a ", "rocommunity", "/mysql", "-pw "),
    ],
)
def test_a_long_text_is_masked_in_a_moment(piece):
    began = time.process_time()
    mask_text(piece * (200_000 // len(piece)))
    assert time.process_time() - began < 5


# --- settings -----------------------------------------------------------------------------------------------


def test_settings_are_masked_by_their_name_and_by_what_they_say():
    masked = mask_settings(
        {
            "port": 3306,
            "password": "sb",
            "pin-token": 1234,
            "url": "mysql://u:sb@h/d",
            "nested": {"secret": {"a": "sb"}, "list": ["--password=sb", 1]},
            "empty_password": "",
            "use_password": True,
            "no_password": None,
            "user": "scott/sb",
            "community": "sb",
            "mysql_community": "8.0",
        }
    )
    assert masked == {
        "port": 3306,
        "password": MASK,
        "pin-token": MASK,
        "url": "mysql://***@h/d",
        "nested": {"secret": MASK, "list": ["--password=***", 1]},
        "empty_password": "",
        "use_password": True,
        "no_password": None,
        "user": "scott/***",
        "community": MASK,
        "mysql_community": "8.0",
    }


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["sysbench", "--mysql-password", "sb", "run"], ["sysbench", "--mysql-password", MASK, "run"]),
        (["mysql", "-uroot", "-psb", "test"], ["mysql", "-uroot", "-p***", "test"]),
        (["curl", "-u", "bench:sb", "https://h"], ["curl", "-u", "bench:***", "https://h"]),
        (["docker", "-u", "1000:1000", "x"], ["docker", "-u", "1000:1000", "x"]),
        (["/usr/bin/mysql", "-u", "root", "-p", "sb b"], ["/usr/bin/mysql", "-u", "root", "-p", MASK]),
        (["mysql", "-p", "3306"], ["mysql", "-p", "3306"]),
        (["mkdir", "-p", "/var/lib/mysql"], ["mkdir", "-p", "/var/lib/mysql"]),
        (["ssh-keygen", "-N", "sb", "-f", "key"], ["ssh-keygen", "-N", MASK, "-f", "key"]),
        (["sqlplus", "scott/sb@db"], ["sqlplus", "scott/***@db"]),
        (["tool", "--token", "--verbose", 4, "-psb"], ["tool", "--token", "--verbose", 4, "-psb"]),
    ],
)
def test_a_command_line_in_parts_is_masked_like_a_whole_one(command, expected):
    assert mask_settings({"argv": command}) == {"argv": expected}


def test_a_secret_in_the_name_of_a_setting_is_masked():
    assert mask_settings({"--password=sb": 1}) == {"--password=***": 1}
