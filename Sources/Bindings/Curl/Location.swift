internal import CCurl

/// Where a redirect leads: a reference taken against the URL of the response (RFC 3986 §5), as
/// libcurl does it.
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
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, CURLUPART_URL, &text, 0) == CURLUE_OK, let text else {
            return nil
        }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
