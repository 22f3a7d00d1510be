import Curl
import Messages

// Transfers of which nothing comes although it is here (`StandstillWatch`).
extension DownloadLoop {
    /// Watches the others, where one was resumed or ended early, and nudges what stands still.
    func lookAfterStandstill() {
        let moment = now()
        if exchange(&mayStandStill, with: false) { watchAll(at: moment) }
        // One in a turn: what libcurl notes is of the connection, and the first who is looked at
        // takes it.
        guard let download = active.values.first(where: { $0.looks(at: moment) }),
            active[download.job.id]?.standstill?.look(
                received: download.transfer.receivedBytes, at: moment) == true
        else { return }
        do throws(CurlError) {
            try transfers.nudge(download.transfer)
        } catch {
            broke(download, error)
        }
    }

    private func watchAll(at moment: Instant) {
        for (id, download) in active where download.transfer.mayShareConnection {
            if download.standstill == nil {
                active[id]?.standstill = StandstillWatch(
                    received: download.transfer.receivedBytes, at: moment)
            } else {
                active[id]?.standstill?.disturb(at: moment)
            }
        }
    }
}
