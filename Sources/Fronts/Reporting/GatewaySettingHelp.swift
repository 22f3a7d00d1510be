package import Model

// Shared by `imagebus serve`, `imagebus url` and `imagebus-gateway`.
extension GatewaySetting {
    /// The help text of the option, without the prefix of `serve`.
    package var help: String {
        switch self {
        case .grammar: "URL grammar: imgproxy, thumbor, imagor, iiif or weserv (imgproxy)"
        case .keys:
            "file with signature keys, one per line: KEY SALT in hexadecimal "
                + "digits for imgproxy, the key itself for thumbor and imagor; reloaded "
                + "on SIGHUP"
        case .unsigned: "accept paths with an invalid or missing signature"
        case .presets: "file with imgproxy presets, one NAME=OPTIONS per line; reloaded on SIGHUP"
        case .onlyPresets: "accept only preset names in URLs, no other options"
        case .passHeaders:
            "request headers to forward to origins, such as cookie; images are "
                + "cached separately for different values"
        case .passHeadersTo:
            "prefixes of the source URLs that receive them, such as "
                + "https://*.example.com/; required for cookie and authorization"
        case .responseHeaders: "headers to add to all responses: NAME=VALUE, separated by \\;"
        case .iiifSource: "URL template with {id} for IIIF images"
        case .offer: "formats to negotiate with the client, or none (avif,webp)"
        case .maxAnimationFrames:
            "maximum frames of an animation; longer ones are served as a still "
                + "(imgproxy: 1; others: all)"
        case .metadata:
            "EXIF, XMP and IPTC to keep: none, copyright, or all, including the "
                + "location (default: copyright)"
        case .damaged:
            "show: serve the decodable pixels of damaged images, with a header "
                + "that says so, cached for at most 60s; refuse: serve an error (show)"
        case .skipProcessingFormats:
            "serve sources in these formats unprocessed: jpeg, png, gif, webp, svg; "
                + "with --metadata all also avif, heic, tiff"
        case .trustedProxy:
            "networks of proxies whose X-Forwarded-For, X-Request-Id and "
                + "traceparent are trusted, such as 10.0.0.0/8,unix (none)"
        case .clientHeader:
            "header with the client address set by --trusted-proxy (X-Forwarded-For)"
        case .maxAge: "alias of --assume-fresh"
        case .immutable: "mark images as immutable in Cache-Control"
        case .allowOrigin:
            "Access-Control-Allow-Origin: * or comma-separated origins (none)"
        case .timeout: "timeout of a request (30s)"
        case .rememberFailures: "time before a failed source is tried again (10s)"
        case .maxAgeLimit: "maximum max-age of images in seconds (31536000)"
        case .browserMaxAge:
            "max-age for browsers in seconds, if shared caches may keep images "
                + "longer (the max-age of shared caches)"
        case .assumeFresh:
            "default max-age in seconds, for images without cache headers: they "
                + "are fresh for this time in the stack and in downstream caches (3600)"
        case .assumeStaleWhileRevalidate:
            "default stale-while-revalidate in seconds: expired images are served "
                + "for this time while they are revalidated (600)"
        case .assumeStaleIfError:
            "default stale-if-error in seconds: expired images are served for this "
                + "time if the origin fails (86400)"
        case .publicURL: "URL of this listener for clients, such as https://example.com (IIIF)"
        case .fallback: "URL or path of an image to serve instead of failed ones"
        case .fallbackFor:
            "HTTP statuses and error names for which the fallback is served, such "
                + "as 404,badImageData"
        case .fallbackStatus: "status of fallbacks, or error for the status of the failure (200)"
        case .fallbackMaxAge: "max-age of fallbacks in seconds (60)"
        case .postTokens: "accept POST uploads that carry a bearer token from FILE, one per line"
        case .postMaxBytes: "maximum size of uploads"
        case .operatorTokens:
            "file with operator tokens, one per line, which allow revalidation by "
                + "Cache-Control: no-cache; reloaded on SIGHUP"
        case .operatorListen:
            "accept PURGE and POST /-/purge of operators at ADDRESS:PORT or unix:/PATH"
        case .clientHints: "request client hints: width, density and Save-Data"
        case .hintWidths: "widths to generate for client hints, such as 320,640,1280"
        case .saveDataQuality: "quality for clients with Save-Data; 0: that of other clients"
        case .saveDataPreset: "preset for clients with Save-Data"
        case .noComponent: "do not serve <bus-image>"
        case .metricsListen: "serve Prometheus metrics at /metrics on this address (none)"
        case .accessLog:
            "access log: one JSON object per request on stderr, with URLs without "
                + "signature and query"
        case .noXCache: "do not send X-Cache"
        case .urlLimit: "maximum length of a URL; longer ones fail with 414 (8192)"
        case .headerLimit: "maximum size of request line and headers (32K)"
        case .headerTimeout: "maximum time to receive the headers of a request, or its body (30s)"
        case .idleTimeout: "timeout of idle connections (60s)"
        case .connections: "maximum concurrent connections (12000)"
        case .connectionsPerAddress:
            "maximum connections per address, except --trusted-proxy (512; 0: no limit)"
        case .presetLines:
            "presets as text, one NAME=OPTIONS per line, besides --presets"
        case .signatureSize: "length of signatures in bytes (imgproxy: 32, imagor: the whole code)"
        case .signatureAlgorithm: "algorithm of imagor signatures: sha1, sha256 or sha512 (sha1)"
        case .argumentsSeparator: "separator of arguments in imgproxy options (:)"
        case .baseURL: "prefix added to sources that do not start with it"
        case .urlReplacements:
            "PATTERN=REPLACEMENT;… for source URL prefixes, with * and ${1} as in imgproxy"
        case .allowedSources:
            "prefixes of allowed source URLs, such as "
                + "https://*.example.com/,s3://bucket/ (any)"
        case .defaultScheme:
            "scheme of sources without one, or none (thumbor, weserv: http, imagor: https, "
                + "others: none)"
        case .schemes: "schemes of your own loaders, such as photos,scans"
        case .watermark:
            "image of the imgproxy watermark option: a URL; `imagebus serve` also "
                + "accepts a file path or a data: URL"
        case .watermarkOpacity: "opacity of the watermark, multiplied by that in the URL (1)"
        case .iiifPrefix: "path before IIIF identifiers, such as iiif/3"
        case .host: "comma-separated host names to serve; others fail with 421 (any)"
        case .pathPrefix: "path before all URLs, such as /img (none)"
        case .quality: "quality if the URL specifies none (80)"
        case .formatQuality: "quality by format, such as webp=75,avif=60"
        case .progressive: "formats to encode progressively: jpeg, png, gif (none)"
        case .effort: "encoder effort by format, such as avif=4,webp=6; more is slower"
        }
    }
}
