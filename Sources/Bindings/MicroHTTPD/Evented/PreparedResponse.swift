internal import CMicroHTTPD

/// A response as libmicrohttpd has it: made once, sent on any number of connections. One thread.
final class PreparedResponse {
    let pointer: OpaquePointer

    /// `nil` if there is no memory for it, or a header is invalid. `inFile`: the body is copied into
    /// a file in memory, from which the system sends it without another copy; this takes a
    /// descriptor.
    init?(_ reply: HTTPReply, inFile: Bool = false) {
        let response =
            inFile
            ? reply.body.withUnsafeBytes { cmicrohttpd_file_response($0.baseAddress, $0.count) }
            : Self.response(of: reply.body)
        guard let made = response else { return nil }
        pointer = made
        for header in reply.headers
        where MHD_add_response_header(made, header.name, header.value) == .NO {
            return nil
        }
    }

    deinit { MHD_destroy_response(pointer) }

    private static func response(of body: HTTPReply.Body) -> OpaquePointer? {
        switch body {
        case .bytes(let bytes):
            return bytes.withUnsafeBytes { bytes in
                MHD_create_response_from_buffer(
                    bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                    .RESPMEM_MUST_COPY)
            }
        case .memory(let bytes, let owner):
            let pointer = Unmanaged.passRetained(owner).toOpaque()
            let made = MHD_create_response_from_buffer_with_free_callback_cls(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress),
                { $0.map { Unmanaged<AnyObject>.fromOpaque($0).release() } }, pointer)
            if made == nil { Unmanaged<AnyObject>.fromOpaque(pointer).release() }
            return made
        }
    }
}
