internal import CCurl

/// Ends the current or the next `TransferSet.wait`. Any thread.
public struct TransferWaker: Sendable {
    let multi: MultiHandle

    /// Wakes the set, which may have been left already.
    public func wake() {
        curl_multi_wakeup(multi.pointer)
    }
}

/// Owns a `CURLM *`, which the set and its wakers share.
///
/// Sendable: wakers only call `curl_multi_wakeup`, the one function of a multi handle that any
/// thread may call (curl_multi_wakeup(3)); the set is one noncopyable owner on one thread.
final class MultiHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    init() throws(CurlError) {
        guard let pointer = curl_multi_init() else { throw CurlError(CURLM_OUT_OF_MEMORY) }
        self.pointer = pointer
    }

    deinit {
        curl_multi_cleanup(pointer)
    }

    func check(_ code: CURLMcode) throws(CurlError) {
        guard code == CURLM_OK else { throw CurlError(code) }
    }
}
