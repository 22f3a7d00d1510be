internal import CCurl

/// Where a redirect or a transfer leads: URLs taken apart and put together as libcurl does it
/// (RFC 3986 §5).
public enum Location {
    /// The absolute URL that `reference` means in a response to `base`, with the user info of
    /// `base` only where the reference names no host. `nil` where one of them is no URL.
    public static func resolve(_ reference: String, against base: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        let flags = UInt32(CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(handle, CURLUPART_URL, base, flags) == CURLUE_OK,
            curl_url_set(
                handle, CURLUPART_URL, reference,
                flags | UInt32(CURLU_URLENCODE) | UInt32(CURLU_ALLOW_SPACE)) == CURLUE_OK
        else { return nil }
        return part(CURLUPART_URL, of: handle)
    }

    /// The host that a transfer of `url` asks for, without percent signs: `127%2e0.0.1` is
    /// `127.0.0.1`. `nil` for what is no URL.
    public static func host(of url: String) -> String? {
        guard let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        guard curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK else { return nil }
        return part(CURLUPART_HOST, of: handle)
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, 0) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
