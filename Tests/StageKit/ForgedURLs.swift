public import Model

/// URLs of each kind of loader that try to reach forbidden targets.
public enum ForgedURLs {
    /// A URL, and the error that it must fail with.
    public typealias Row = (url: String, code: ErrorCode)

    /// `PORT` is the port of a server on this machine, which would answer.
    public static let http: [Row] =
        [
            // Loopback, in the spellings of inet_aton(3) and of IPv6.
            "127.0.0.1", "127.1", "127.0.1", "0177.0.0.1", "0177.1", "0x7f.0.0.1", "0x7F.0X0.0.1",
            "0x7f.1", "0x7f000001", "2130706433", "017700000001", "127.000.000.001",
            "localhost", "LOCALHOST", "127.255.255.254", "0", "0.0.0.0", "0x0", "00",
            "[::1]", "[0:0:0:0:0:0:0:1]", "[0000:0000::0001]", "[::]", "[::127.0.0.1]",
            "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:FFFF:127.0.0.1]",
            "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]", "[2002:7f00:1::]",
            "[2606:4700::5efe:127.0.0.1]",
            "127.0.0.2", "0x7f.0x0.0x0.0x1", "0177.0.0x0.1", "127.0.0.0x1", "2130706434",
            "0x7F000002", "017700000002", "[0:0:0:0:0:0:127.0.0.1]", "[::0001]",
            // Private networks, link-local addresses and cloud metadata services.
            "10.0.0.1", "10.1", "0xa000001", "172.16.0.1", "172.31.255.255", "192.168.1.1",
            "192.168.257", "3232235777", "169.254.169.254", "0xa9fea9fe", "2852039166",
            "0251.0376.0251.0376", "169.254.43518", "169.254.170.2", "100.64.0.1",
            "100.100.100.200", "168.63.129.16", "[fc00::1]", "[fd00:ec2::254]", "[fd20:ce::254]",
            "[fec0::1]", "[fe80::1]", "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]",
            "[2002:a9fe:a9fe::]", "[64:ff9b::a9fe:a9fe]", "[2002:c0a8:101::1]",
            "10.255.255.255", "172.16.1", "0xac100001", "192.168.255.255", "100.127.255.255",
            "[::ffff:10.0.0.1]", "[::ffff:192.168.1.1]", "[::10.0.0.1]", "[64:ff9b::10.0.0.1]",
            "[2002:a00:1::]", "[fdff:ffff::1]", "[febf::1]", "[fe80::a9fe:a9fe]",
            // Addresses that aren't hosts.
            "192.0.0.192", "198.18.0.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
            "255.255.255.255", "198.19.255.255", "[ff05::2]", "192.0.2.1", "198.51.100.1",
            "203.0.113.1", "192.88.99.1",
            "[ff02::1]", "[2001:db8::1]", "[100::1]", "[4000::1]", "[2001::1]",
        ].map { ("http://\($0):PORT/metadata", .addressForbidden) }
        + [
            // Text before and after the host.
            ("HTTP://127.0.0.1:PORT/", .addressForbidden),
            ("http://public.example@127.0.0.1:PORT/", .addressForbidden),
            ("http://public.example:80@localhost:PORT/", .addressForbidden),
            ("http://127.0.0.1:PORT?@public.example/", .addressForbidden),
            ("http://127.0.0.1:PORT#@public.example/", .addressForbidden),
            ("http://127.0.0.1:PORT/../../etc/passwd", .addressForbidden),
            ("http://%31%32%37.0.0.1:PORT/", .addressForbidden),
            ("http://127%2e0%2e0%2e1:PORT/", .addressForbidden),
            ("http://public.example\\@127.0.0.1:PORT/", .addressForbidden),
            ("http://127.0.0.1:PORT:80/", .invalidURL),
            ("http://127.0.0.1:PORT,public.example/", .invalidURL),
            ("http://127.0.0.1 :PORT/", .invalidURL), ("http://127.0.0.1:PORT\r\n/", .invalidURL),
            ("http://127.0.0.1\t:PORT/", .invalidURL), ("http://[::1]x:PORT/", .invalidURL),
            ("http://[::1:PORT/", .invalidURL), ("http://::1:PORT/", .invalidURL),
            ("http://127.0.0.1:0/", .invalidURL), ("http://127.0.0.1:65617/", .invalidURL),
            ("http://127.0.0.1%00.public.example:PORT/", .invalidURL),
            ("http:///127.0.0.1:PORT/", .invalidURL), ("http:/127.0.0.1:PORT/", .invalidURL),
            ("http:127.0.0.1:PORT/", .invalidURL), ("://127.0.0.1:PORT/", .invalidURL),
            // Schemes that no HTTP loader accepts.
            ("ftp://127.0.0.1:PORT/", .unsupportedScheme),
            ("gopher://127.0.0.1:PORT/_GET", .unsupportedScheme),
            ("dict://127.0.0.1:PORT/", .unsupportedScheme),
            ("ldap://127.0.0.1:PORT/", .unsupportedScheme),
            ("tftp://127.0.0.1:PORT/", .unsupportedScheme),
            ("telnet://127.0.0.1:PORT/", .unsupportedScheme),
            ("scp://127.0.0.1:PORT/", .unsupportedScheme),
            ("smb://127.0.0.1/share", .unsupportedScheme),
            ("ws://127.0.0.1:PORT/", .unsupportedScheme),
            ("jar:http://127.0.0.1:PORT!/", .unsupportedScheme),
            ("view-source:http://127.0.0.1:PORT/", .unsupportedScheme),
            ("javascript:fetch(1)", .unsupportedScheme), ("http+unix://x/", .unsupportedScheme),
            ("file:///etc/passwd", .unsupportedScheme), ("FILE:///etc/passwd", .unsupportedScheme),
            ("file:/etc/passwd", .unsupportedScheme), ("data:,x", .unsupportedScheme),
            ("s3://photos/a", .unsupportedScheme),
        ]

    /// Hosts that some resolvers and locales parse as an address and others don't accept as a host.
    public static let unreadable = [
        "http://127.0.0.1.:PORT/", "http://localhost.:PORT/", "http://①②⑦.⓪.⓪.①:PORT/",
        "http://127。0。0。1:PORT/", "http://127.0.0.1:PORT\\@public.example/",
    ]

    /// Relative to the root of a `FolderOfFiles`.
    public static let file: [Row] = [
        ("file:///../secret", .invalidURL), ("file:///folder/../../secret", .invalidURL),
        ("file:///folder/..", .invalidURL), ("file:///.", .invalidURL), ("file:///..", .invalidURL),
        ("file:///./a.jpg", .invalidURL), ("file:///%2e%2e/secret", .invalidURL),
        ("file:///%2E%2e/secret", .invalidURL), ("file:///.%2e/secret", .invalidURL),
        ("file:///%2e./secret", .invalidURL), ("file:///%2e/a.jpg", .invalidURL),
        ("file:///..%2fsecret", .invalidURL), ("file:///..%2Fsecret", .invalidURL),
        ("file:///folder%2f..%2f..%2fsecret", .invalidURL), ("file:///%2fetc/passwd", .invalidURL),
        ("file:///%2Fetc%2Fpasswd", .invalidURL), ("file:////etc/passwd", .invalidURL),
        ("file://///etc/passwd", .invalidURL), ("file:///..\\secret", .invalidDownloadStatusCode),
        ("file:\\\\\\etc\\passwd", .invalidURL), ("file:///a.jpg%00", .invalidURL),
        ("file:///a.jpg%00.png", .invalidURL), ("file:///%00", .invalidURL),
        ("file:///a.jpg%0a", .invalidURL), ("file:///a.jpg\u{0}", .invalidURL),
        ("file:///%c0%ae%c0%ae/secret", .invalidURL), ("file:///%ff", .invalidURL),
        ("file:///%zz", .invalidURL), ("file:///a.jpg%", .invalidURL),
        ("file:///a.jpg%2", .invalidURL), ("file:///%252e%252e/secret", .invalidDownloadStatusCode),
        ("file:///..%c0%af..%c0%afsecret", .invalidURL),
        ("file://host/a.jpg", .invalidURL), ("file://127.0.0.1/a.jpg", .invalidURL),
        ("file://[::1]/a.jpg", .invalidURL), ("file://user@localhost/a.jpg", .invalidURL),
        ("file://@/a.jpg", .invalidURL), ("file://localhost:80/a.jpg", .invalidURL),
        ("file://localhost./a.jpg", .invalidURL), ("file://../secret", .invalidURL),
        ("file://etc/passwd", .invalidURL), ("file://%2e%2e/secret", .invalidURL),
        ("file:a.jpg", .invalidURL), ("file:/a.jpg", .invalidURL), ("file:../secret", .invalidURL),
        ("file:", .invalidURL), ("file:/", .invalidURL), ("file://", .invalidURL),
        ("file:///", .invalidURL), ("FILE:///../secret", .invalidURL),
        ("file:///a.jpg/", .invalidURL), ("file:///folder/", .invalidURL),
        ("file:///a.jpg?x", .invalidURL), ("file:///a.jpg#x", .invalidURL),
        // Links that leave the root, in the last component or on the way.
        ("file:///up/secret", .addressForbidden), ("file:///up/files/a.jpg", .addressForbidden),
        ("file:///up/root-secret", .addressForbidden), ("file:///secret", .addressForbidden),
        ("file:///absolute", .addressForbidden), ("file:///own", .addressForbidden),
        ("file:///etc/passwd", .addressForbidden), ("file:///system/etc/passwd", .addressForbidden),
        ("file:///process/environ", .addressForbidden),
        ("file:///process/cwd/secret", .addressForbidden),
        ("file:///circle", .addressForbidden), ("file:///zero", .addressForbidden),
        // Paths that aren't files with content.
        ("file:///pipe", .invalidDownloadResponse), ("file:///folder", .invalidDownloadResponse),
        ("file:///empty", .badImageData), ("file:///dangling", .invalidDownloadStatusCode),
        ("file:///missing", .invalidDownloadStatusCode),
        ("file:///a.jpg/x", .invalidDownloadStatusCode),
        ("file:///proc/self/cwd/secret", .invalidDownloadStatusCode),
        ("file:///....//secret", .invalidDownloadStatusCode),
        ("file:///%20../secret", .invalidDownloadStatusCode),
        ("file:///~root/secret", .invalidDownloadStatusCode),
        ("http://127.0.0.1/", .unsupportedScheme), ("s3://photos/a", .unsupportedScheme),
    ]

    /// For an endpoint without that bucket that would accept every path.
    public static let s3: [Row] =
        [
            "s3://169.254.169.254/latest/meta-data", "s3://127.0.0.1/x", "s3://10.0.0.1/x",
            "s3://0x7f.0.0.1/x", "s3://0177.0.0.1/x", "s3://127.1/x", "s3://[::1]/x",
            "s3://[::ffff:127.0.0.1]/x", "s3://a@b/x", "s3://user:pw@photos/x", "s3://@photos/x",
            "s3://photos@127.0.0.1/x", "s3://photos%40evil/x", "s3://photos\\@evil/x",
            "s3://../x", "s3://./x", "s3://..%2fx/y", "s3://%2e%2e/x", "s3://photos%2f..%2fx/y",
            "s3://photos:80/x", "s3://photos:/x", "s3://PHOTOS/x", "s3://Photos/x", "s3://ph/x",
            "s3://photos_1/x", "s3://-photos/x", "s3://photos-/x", "s3://pho..tos/x",
            "s3://pho.-tos/x", "s3://pho-.tos/x", "s3://.photos/x", "s3://photos./x",
            "s3://photos%00/x", "s3://phötos/x", "s3://photos!/x", "s3://photos,evil/x",
            "s3://photos?x", "s3://photos#x", "s3://photos", "s3://photos/", "s3:///x", "s3://",
            "s3:x", "s3:/photos/x", "s3:photos/x", "s3://photos/../other/x", "s3://photos/..",
            "s3://photos/a/../../other/x", "s3://photos/./x", "s3://photos/%2e%2e/other/x",
            "s3://photos/.%2E/other/x", "s3://photos/a%2f..%2f..%2fother", "s3://photos/a%2fb",
            "s3://photos/a?acl", "s3://photos/a?versionId=1", "s3://photos/?list-type=2",
            "s3://photos/a#x", "s3://photos/%00", "s3://photos/a%0d%0aHost:%20evil",
            "s3://photos/a%0a", "s3://photos/%zz", "s3://photos/a%", "s3://photos/%c0%ae%c0%ae/x",
            "s3://photos/%ff", "S3://photos/../x",
            "s3://" + String(repeating: "a", count: 64) + "/x",
            "s3://photos/" + String(repeating: "a", count: 1_025),
        ].map { ($0, .invalidURL) }
        + [
            // Bucket names that may mean something else elsewhere.
            ("s3://localhost/x", .invalidDownloadStatusCode),
            ("s3://evil.example/x", .invalidDownloadStatusCode),
            ("s3://2130706433/x", .invalidDownloadStatusCode),
            ("s3://metadata.google.internal/x", .invalidDownloadStatusCode),
            ("s3://photos//127.0.0.1/x", .invalidDownloadStatusCode),
            ("s3://photos/http://127.0.0.1/x", .invalidDownloadStatusCode),
            ("s3://photos/%252e%252e/x", .invalidDownloadStatusCode),
            ("s3://photos/@evil", .invalidDownloadStatusCode),
            ("s3://photos/%3facl", .invalidDownloadStatusCode),
            ("file:///a", .unsupportedScheme), ("http://127.0.0.1/", .unsupportedScheme),
        ]

    /// Invalid and empty data URLs.
    public static let data: [Row] = [
        ("data:", .invalidURL), ("data:x", .invalidURL), ("data:image/png;base64", .invalidURL),
        ("data:,", .badImageData), ("data:;base64,", .badImageData),
        ("data:image/png;base64,@@@@", .invalidURL), ("data:image/png;base64,AAA", .invalidURL),
        ("data:image/png;base64,AA=A", .invalidURL), ("data:image/png;base64,A===", .invalidURL),
        ("data:image/png;base64,====", .invalidURL), ("data:image/png;base64,AB==", .invalidURL),
        ("data:image/png;base64,AAB=", .invalidURL), ("data:image/png;base64,AAAA=", .invalidURL),
        ("data:image/png;base64,AA-_", .invalidURL), ("data:image/png;base64,AA%20A", .invalidURL),
        ("data:image/png;base64,AA AA", .invalidURL), ("data:image/png;base64,AA%", .invalidURL),
        ("data:x,abc", .invalidURL), ("data:image//png,a", .invalidURL), ("data:/,a", .invalidURL),
        ("data:image/,a", .invalidURL), ("data:/png,a", .invalidURL),
        ("data://127.0.0.1/x,abc", .invalidURL), ("data://user@host/,abc", .invalidURL),
        ("data:image/png,%zz", .invalidURL), ("data:image/png,%", .invalidURL),
        ("data:image/png,a#b", .invalidURL), ("data:im age/png,a", .invalidURL),
        ("data:image/png\r\n,a", .invalidURL), ("data:imäge/png,a", .invalidURL),
        ("data:" + String(repeating: "a", count: 256) + "/b,c", .invalidURL),
        ("file:///etc/passwd", .unsupportedScheme), ("http://127.0.0.1/", .unsupportedScheme),
    ]
}
