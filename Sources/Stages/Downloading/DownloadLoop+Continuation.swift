import Curl
import Messages

extension DownloadLoop {
    /// What a transfer that broke off is to go on with. One that did not get further than the one
    /// before it would not, either.
    func rest(of download: ActiveDownload, after error: CurlError?) -> RestOfBody? {
        let elapsed = now().milliseconds(since: download.started)
        guard download.continuations < configuration.continuationsMax,
            elapsed < configuration.totalTimeoutMilliseconds,
            let rest = download.sink.rest(after: error), rest.offset > download.offset
        else { return nil }
        return rest
    }

    /// Another transfer brings what is missing.
    func continueBody(_ download: ActiveDownload, with rest: RestOfBody) {
        remove(download)
        var download = download
        download.continuations += 1
        download.offset = rest.offset
        download.sink.expect(rest)
        do throws(DownloadFailure) {
            try startAnother(&download, rest)
        } catch {
            giveUp(download, error)
        }
    }
}
